"""A rotation that brings numbers near to their signs."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash.quantisation import turned_to_signs


def random_rotation(width: int, rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(width, width)))[0]


def test_corners_of_a_cube_are_found_again(rng: np.random.Generator) -> None:
    corners = np.where(rng.random((300, 5)) < 0.5, 1.0, -1.0)
    hidden = random_rotation(5, rng)
    near = np.linalg.qr(hidden.T + 0.05 * rng.normal(size=(5, 5)))[0]
    R = turned_to_signs(corners @ hidden, near, 10)
    assert abs(np.abs(corners @ hidden @ near) - 1).max() > 0.1
    np.testing.assert_allclose(np.abs(corners @ hidden @ R), 1, atol=1e-9)


def test_no_turn_makes_it_worse_and_r_stays_a_rotation(rng: np.random.Generator) -> None:
    rows, start = rng.normal(size=(200, 6)) * [5, 4, 3, 2, 1, 0.5], random_rotation(6, rng)
    losses = []
    for turns in range(6):
        R = turned_to_signs(rows, start, turns)
        np.testing.assert_allclose(R.T @ R, np.eye(6), atol=1e-9)
        losses.append(np.square(np.where(rows @ R >= 0, 1, -1) - rows @ R).sum())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.zeros((4, 3))])
def test_without_anything_to_turn_it_is_a_rotation_still(rows: np.ndarray) -> None:
    R = turned_to_signs(rows, np.eye(3), 2)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-9)
