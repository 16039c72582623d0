from __future__ import annotations

import pytest
from train_one import step_milliseconds


def lines(*seconds: float) -> list[dict[str, float]]:
    return [{"seconds": value, "step": 10 * (i + 1)} for i, value in enumerate(seconds)]


def test_the_first_epoch_is_no_measure_of_a_step() -> None:
    assert step_milliseconds(lines(30.0, 31.0, 32.0, 33.0)) == pytest.approx(100)
    assert step_milliseconds(lines(30.0, 31.0, 61.0, 62.0)) == pytest.approx(
        100
    )  # resumed, and captured again
    assert step_milliseconds(lines(3.0)) is None
