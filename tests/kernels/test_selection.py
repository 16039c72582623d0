"""Keeping the nearest against sorting, in every order of arrival; lists merged as one would be sorted."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from kinhash.kernels.selection import Places, finish, keep, merge_sorted, start_selection
from kinhash.kernels.vector import number_at


@njit
def _feed(s: Places, distances: np.ndarray) -> None:
    for row in range(distances.shape[0]):
        if distances[row] < number_at(s.accept):
            keep(s, 0, row, distances[row])


@pytest.mark.parametrize("order", ["random", "falling", "rising", "equal"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (50, 50), (3000, 1), (3000, 7), (3000, 400)])
def test_the_nearest_in_row_order(order: str, n: int, k: int, rng: np.random.Generator) -> None:
    distances = rng.integers(0, 65, n)
    if order != "random":
        distances = (
            np.sort(distances)[:: -1 if order == "falling" else 1] if order != "equal" else distances * 0
        )
    state = start_selection(np.zeros((1, 1), np.uint64), 64, k, min(2 * k + 5, n), 65)
    _feed(state.places(), np.ascontiguousarray(distances))
    rows, found = np.empty((1, k), np.int64), np.empty((1, k), np.int32)
    finish(state.places(), rows, found)
    expected = np.argsort(distances, kind="stable")[:k]
    np.testing.assert_array_equal(rows[0], expected)
    np.testing.assert_array_equal(found[0], distances[expected])


def test_fewer_than_k_are_filled_with_what_no_merge_takes() -> None:
    """A thread that saw fewer codes than k."""
    state = start_selection(np.zeros((1, 1), np.uint64), 64, 5, 10, 65)
    _feed(state.places(), np.array([3, 1]))
    rows, found = np.zeros((2, 1, 5), np.int64), np.zeros((2, 1, 5), np.int32)
    finish(state.places(), rows[0], found[0])
    assert found[0, 0, :2].tolist() == [1, 3]
    assert (found[0, 0, 2:] > 64).all()
    rows[1, 0], found[1, 0] = [10, 11, 12, 13, 14], [1, 1, 3, 3, 64]
    nearest, distances = np.empty((1, 5), np.int64), np.empty((1, 5), np.int32)
    merge_sorted(rows, found, nearest, distances)
    assert nearest.tolist() == [[1, 10, 11, 0, 12]]
    assert distances.tolist() == [[1, 1, 1, 3, 3]]
