"""Codes of classes: near classes get near codes, no two are too near, and what cannot be is said."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import kinhash as kh
from kinhash.errors import InputError
from kinhash.meaning.class_codes import class_codes, separation


def hamming(signs: np.ndarray) -> np.ndarray:
    return np.array([[int(sum(a != b)) for b in signs] for a in signs])


@pytest.fixture(scope="module")
def tree() -> np.ndarray:
    return kh.semantics("tree:cifar100").distance


@pytest.mark.parametrize(("bits", "correlation"), [(16, 0.85), (64, 0.97)])
def test_distances_follow_the_hierarchy(tree: np.ndarray, bits: int, correlation: float) -> None:
    found = class_codes(tree, bits)
    between, off = hamming(found.signs), ~np.eye(100, dtype=bool)
    assert found.signs.shape == (100, bits)
    assert set(np.unique(found.signs)) == {-1, 1}
    assert found.least == between[off].min() >= 1
    assert found.correlation == pytest.approx(np.corrcoef(between[off], tree[off])[0, 1])
    assert found.correlation > correlation
    assert np.abs(found.signs.mean(0)).max() < 0.5
    values, vectors = np.linalg.eigh(1 - tree)
    planes = np.random.default_rng(0).normal(size=(100, bits))
    random = np.where(vectors * np.sqrt(values) @ planes >= 0, 1, -1)
    assert found.correlation > np.corrcoef(hamming(random)[off], tree[off])[0, 1] + 0.02


@pytest.mark.parametrize("least", [1, 8, 20])
def test_the_least_distance_is_kept(tree: np.ndarray, least: int) -> None:
    found = class_codes(tree[:40, :40], 64, least=least)
    assert hamming(found.signs)[~np.eye(40, dtype=bool)].min() >= least


def test_a_seed_decides(tree: np.ndarray) -> None:
    first, again, other = (class_codes(tree[:10, :10], 16, seed=s).signs for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_classes_without_kin_get_codes_far_from_each_other() -> None:
    found = class_codes(1 - np.eye(8), 32)
    assert found.least >= 14
    assert class_codes(np.zeros((3, 3)), 8).least >= 1  # equal classes still get codes of their own
    assert class_codes([[0, 1], [1, 0]], 4).least == 4


@pytest.mark.parametrize(("classes", "bits"), [(2, 1), (100, 16), (100, 64), (1000, 64), (4, 2)])
def test_so_many_codes_can_always_lie_so_far_apart(classes: int, bits: int) -> None:
    d = separation(classes, bits)
    assert sum(comb(bits, i) for i in range(d)) * classes <= 2**bits
    assert d == bits or sum(comb(bits, i) for i in range(d + 1)) * classes > 2**bits


@pytest.mark.parametrize(
    ("distance", "bits", "least", "told"),
    [
        (np.zeros((9, 9)), 3, None, "9 classes need at least 4 bits"),
        (1 - np.eye(4), 3, 3, "only 2; ask for 2 or less"),
        (np.full((3, 3), 2.0), 8, None, "lie in"),
        (np.full((3, 3), np.nan), 8, None, "lie in"),
        (np.zeros((3, 2)), 8, None, "matrix of distances"),
    ],
)
def test_what_cannot_be_is_said(distance: np.ndarray, bits: int, least: int | None, told: str) -> None:
    with pytest.raises(InputError, match=told):
        class_codes(distance, bits, least=least)
