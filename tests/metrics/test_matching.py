"""recall of own items against the mean over all orders of ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kinhash as kh
from kinhash.errors import InputError
from kinhash.metrics.matching import own_recall


def slow(distances: np.ndarray, mine: np.ndarray, k: int) -> float:
    """The mean over all orders, by trying them."""
    hits = []
    for order in itertools.permutations(range(len(distances))):
        ranked = sorted(order, key=lambda i: distances[i])
        hits.append(bool(mine[ranked[:k]].any()))
    return float(np.mean(hits))


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_ties_at_their_expectation(k: int) -> None:
    rng = np.random.default_rng(k)
    queries, items = (kh.Codes.from_bits(rng.random((n, 4)) < 0.5) for n in (12, 6))
    of, theirs = rng.integers(0, 3, 12), np.array([0, 1, 2, 0, 1, 2])
    distances = (queries.to_bits()[:, None] != items.to_bits()[None]).sum(2)
    got = own_recall(queries, items, of, theirs, ks=[k])[k]
    wanted = [slow(row, theirs == thing, k) for row, thing in zip(distances, of, strict=True)]
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_floats_by_dot_product(rng: np.random.Generator) -> None:
    items = rng.normal(size=(40, 8))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    found = own_recall(items, items, np.arange(40), np.arange(40))
    assert found[1].mean() == 1.0
    other = own_recall(-items, items, np.arange(40), np.arange(40), ks=[39])
    assert other[39].mean() == 0.0


def test_what_does_not_fit(rng: np.random.Generator) -> None:
    items = rng.normal(size=(4, 2))
    with pytest.raises(InputError, match="query 2 belongs to 9, of which the database holds nothing"):
        own_recall(items, items, [0, 1, 9, 3], range(4), ks=[1])
    with pytest.raises(InputError, match="queries_of needs one whole number for each of 4 rows"):
        own_recall(items, items, [0.5] * 4, range(4), ks=[1])
