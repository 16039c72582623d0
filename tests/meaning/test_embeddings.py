"""Distances between embeddings against scipy, scales, and input that has no distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from kinhash.errors import InputError
from kinhash.meaning.embeddings import embedding_distances


@pytest.mark.parametrize(
    ("metric", "name", "scale"), [("manhattan", "cityblock", None), ("cosine", "cosine", 2)]
)
@pytest.mark.parametrize("n", [1, 2, 130])
def test_against_scipy(rng: np.random.Generator, metric: str, name: str, scale: float | None, n: int) -> None:
    a = rng.normal(size=(n, 7))
    expected = cdist(a, a, name)
    expected /= scale or max(expected.max(), 1e-300)
    found = embedding_distances(a, metric=metric)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.array_equal(found, found.T)
    assert not np.diagonal(found).any()
    assert found.min() >= 0
    assert found.max() <= 1


def test_between_two_sets_with_a_fixed_scale(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(5, 3)).astype(np.float32), rng.integers(-3, 3, (4, 3))
    np.testing.assert_allclose(embedding_distances(a, b, scale=40), cdist(a, b, "cityblock") / 40)
    np.testing.assert_allclose(
        embedding_distances(a, b + 5, "cosine"), cdist(a, b + 5, "cosine") / 2, atol=1e-12
    )
    parts = [embedding_distances(a[i : i + 1], b, scale=40) for i in range(5)]
    assert np.array_equal(np.concatenate(parts), embedding_distances(a, b, scale=40)), "calls stay comparable"


def test_opposite_vectors_are_farthest_by_cosine() -> None:
    assert embedding_distances([[1.0, 0], [-2, 0], [0, 3]], metric="cosine").tolist() == [
        [0, 1, 0.5],
        [1, 0, 0.5],
        [0.5, 0.5, 0],
    ]


def test_equal_rows_are_at_zero() -> None:
    assert not embedding_distances(np.ones((3, 4))).any()
    assert not embedding_distances(np.ones((3, 4)), metric="cosine").any()


def test_tiny_and_huge_vectors_keep_their_direction() -> None:
    rows = np.array([[1e-300, 0], [1e300, 1e300]])
    assert embedding_distances(rows, metric="cosine")[0, 1] == pytest.approx((1 - np.sqrt(0.5)) / 2)


@pytest.mark.parametrize(
    ("a", "options", "message"),
    [
        (np.zeros((0, 3)), {}, r"at least one row, got shape \(0, 3\)"),
        (np.zeros((3, 0)), {}, r"got shape \(3, 0\)"),
        (np.zeros(3), {}, r"got shape \(3,\)"),
        ([["x", "y"]], {}, "must be a real"),
        ([[0, np.nan], [1, 2]], {}, "the embeddings must be finite.* in 1 rows, first in row 0"),
        ([[1, 2]], {"b": [[1, np.inf]]}, "embeddings b must be finite"),
        ([[1, 2]], {"b": [[1, 2, 3]]}, "of 2 and of 3 dimensions have no distance"),
        ([[1, 2]], {"metric": "l2"}, "metric is one of 'manhattan', 'cosine'; got 'l2'"),
        ([[1, 2], [0, 0]], {"metric": "cosine"}, "row 1 is all zeros and has no direction"),
        ([[1, 2], [0, 0]], {"scale": 2}, "largest distance is 3, beyond scale=2"),
        ([[1e308, 1e308], [-1e308, 0]], {}, "the distances overflow"),
        ([[1, 2], [3]], {}, "the embeddings cannot be read as an array"),
        ([[1, 2], [0, 0]], {"scale": "x"}, "scale is a positive number, got 'x'"),
        ([[1, 2], [0, 0]], {"scale": np.inf}, "scale is a positive number, got inf"),
        ([[1, 2], [0, 0]], {"scale": 0}, "scale is a positive number, got 0"),
        ([[1, 2], [0, 0]], {"scale": float("nan")}, "scale is a positive number, got nan"),
    ],
)
def test_input_without_distances(a: ArrayLike, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        embedding_distances(a, **options)
