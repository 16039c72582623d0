"""Class embeddings reproduce their similarities, exactly or as nearly as their rank allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinhash as kh
from kinhash.errors import InputError
from kinhash.meaning.class_embeddings import class_embeddings

S = kh.semantics("tree:cifar100").similarity


def test_inner_products_are_similarities_and_rows_have_unit_length() -> None:
    E = class_embeddings(S)
    assert E.shape == (100, 100)
    np.testing.assert_allclose(E @ E.T, S, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(E, axis=1), 1)
    assert np.array_equal(E, np.tril(E)), "the Cholesky factor"


@pytest.mark.parametrize("dimensions", [1, 16, 99])
def test_fewer_dimensions_are_the_best_approximation_of_that_rank(dimensions: int) -> None:
    E = class_embeddings(S, dimensions)
    assert E.shape == (100, dimensions)
    left_out = np.linalg.svd(S, compute_uv=False)[dimensions:]  # Eckart & Young: no rank-D matrix is nearer
    assert np.linalg.norm(S - E @ E.T) == pytest.approx(np.linalg.norm(left_out))


def test_the_sign_of_every_column_is_fixed() -> None:
    E = class_embeddings(S, 16)
    assert (E[np.argmax(np.abs(E), axis=0), np.arange(16)] > 0).all()


def test_one_class() -> None:
    assert class_embeddings([[1]]).tolist() == [[1.0]]
    assert class_embeddings([[1]], 1).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("similarity", "options", "message"),
    [
        ([[1, 1], [1, 1]], {}, r"classes [01] and [01] have similarity 1"),
        ([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]], {}, r"lowest eigenvalue is -0.27.*pass dimensions"),
        (
            [[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]],
            {"dimensions": 3},
            "only 2 eigenvalues.*dimensions=2 or fewer",
        ),
        (S, {"dimensions": 101}, "dimensions must be 1 to 100"),
        (S, {"dimensions": 0}, "got 0"),
        (S, {"dimensions": True}, "got True"),
        (S, {"dimensions": 2.0}, "got 2.0"),
        ([[0, 0.5], [0.5, 0]], {}, "similarity 1 to itself; from distances, pass 1 - distance"),
        ([[1, 0.5], [0.4, 1]], {}, "not symmetric"),
        ([[1, np.nan], [np.nan, 1]], {}, r"\[0, 1\] is nan; give every pair of classes a number"),
        ([[1, 0.5]], {}, r"got shape \(1, 2\)"),
        (np.zeros((0, 0)), {}, r"got shape \(0, 0\)"),
    ],
)
def test_similarities_without_embeddings(
    similarity: ArrayLike, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        class_embeddings(similarity, **options)
