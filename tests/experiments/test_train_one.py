from __future__ import annotations

import pytest
from train_one import step_milliseconds, train_seconds


def lines(*seconds: float) -> list[dict[str, float]]:
    return [{"seconds": value, "step": 10 * (i + 1)} for i, value in enumerate(seconds)]


def test_epochs_of_earlier_calls_count() -> None:
    assert train_seconds(9.0, lines(3.0, 5.0, 8.0)) == 9.0
    assert train_seconds(9.0, lines(3.0, 5.0, 4.0, 8.0)) == 14.0  # cut off after two epochs, resumed
    assert train_seconds(9.0, []) == 9.0


def test_the_first_epoch_of_a_call_is_no_measure_of_a_step() -> None:
    assert step_milliseconds(lines(30.0, 31.0, 32.0, 33.0)) == pytest.approx(100)
    assert step_milliseconds(lines(30.0, 31.0, 20.0, 21.0)) == pytest.approx(100)
    assert step_milliseconds(lines(3.0)) is None
