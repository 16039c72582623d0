from __future__ import annotations

import numpy as np
import pytest

from kinhash.training.schedule import learning_rate


def rates(kind: str, **options: float) -> np.ndarray:
    return np.array([learning_rate(kind, step, 100, 0.4, **options) for step in range(100)])  # type: ignore[arg-type]


def test_one_cycle_rises_then_falls_to_nothing() -> None:
    found = rates("one-cycle", warm=0.3)
    assert found[0] == pytest.approx(0.4 / 25)
    assert found.argmax() == 30
    assert found[30] == pytest.approx(0.4)
    assert (np.diff(found[:31]) > 0).all()
    assert (np.diff(found[30:]) < 0).all()
    assert found[-1] < 0.4 / 1000
    assert found[15] == pytest.approx((found[0] + found[30]) / 2)
    assert found[65] == pytest.approx(0.2)


def test_the_other_schedules() -> None:
    assert set(rates("constant")) == {0.4}
    np.testing.assert_allclose(rates("cosine"), 0.2 * (1 + np.cos(np.pi * np.arange(100) / 100)))
    steps = rates("steps", decay_every=0.25)
    np.testing.assert_allclose(steps, 0.4 * 0.1 ** (np.arange(100) // 25))
    assert learning_rate("one-cycle", 0, 0, 0.4) == pytest.approx(0.4 / 25)
    assert learning_rate("one-cycle", 0, 10, 0.4, warm=0.0) == pytest.approx(0.4)
