"""What a given matrix of distances must be."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from kinhash.errors import InputError
from kinhash.meaning.matrix import checked_distances, checked_square


def test_a_good_matrix_comes_back_as_a_copy_in_double_precision() -> None:
    given = np.array([[0, 0.25], [0.25, 0]], np.float32)
    checked = checked_distances(given)
    assert checked.dtype == np.float64
    assert checked.tolist() == given.tolist()
    checked[0, 1] = 1
    assert given[0, 1] == 0.25
    assert checked_distances([[0]]).tolist() == [[0.0]]


def test_rounding_is_forgiven_and_made_exact() -> None:
    checked = checked_distances([[1e-12, 1 + 1e-12], [1 - 1e-12, -1e-13]])
    assert checked.max() <= 1
    assert np.array_equal(checked, checked.T)
    assert not np.diagonal(checked).any()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 0.5, 1]], r"square matrix, got shape \(1, 3\).*metric='cosine' or metric='manhattan'"),
        ([0, 1], r"got shape \(2,\)"),
        (np.zeros((0, 0)), "is empty"),
        ([["a"]], "a matrix of numbers|matrix of numbers"),
        ([[0, 1j], [1j, 0]], "complex128"),
        ([[0, 2.0], [2.0, 0]], r"\[0, 1\] is 2; divide the matrix by its largest entry"),
        ([[0, -0.1], [-0.1, 0]], r"\[0, 1\] is -0.1"),
        ([[0, np.nan], [np.nan, 0]], r"\[0, 1\] is nan"),
        ([[0, np.inf], [np.inf, 0]], r"\[0, 1\] is inf"),
        ([[1, 0.5], [0.5, 1]], "looks like a matrix of similarities: pass 1 - matrix"),
        ([[0, 0.5], [0.5, 0.2]], r"distance of class 1 to itself is 0.2.*fill_diagonal"),
        (
            [[0, 0.5], [0.4, 0]],
            r"not symmetric: \[0, 1\] is 0.5, \[1, 0\] is 0.4; pass \(matrix \+ matrix.T\) / 2",
        ),
    ],
)
def test_matrices_that_are_no_distances(matrix: ArrayLike, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_distances(matrix)


def test_a_square_matrix_may_be_asymmetric() -> None:
    assert checked_square([[0.1, 0.5], [0.4, 0]]).tolist() == [[0.1, 0.5], [0.4, 0]]
