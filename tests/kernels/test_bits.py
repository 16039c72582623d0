"""Population counts and Hamming distances against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from kinhash.codes import Codes
from kinhash.kernels.bits import hamming, hamming_row, hamming_tile, popcount64


@njit
def _count(words: np.ndarray, out: np.ndarray) -> None:
    for i in range(words.shape[0]):
        out[i] = popcount64(words[i])


def test_popcount(rng: np.random.Generator) -> None:
    edges = [0, 1, 2**63, 2**64 - 1, 0x5555555555555555]
    words = np.concatenate([np.array(edges, np.uint64), rng.integers(0, 2**64, 200, np.uint64)])
    out = np.empty(len(words), np.int64)
    _count(words, out)
    assert out.tolist() == [int(word).bit_count() for word in words]


@pytest.mark.parametrize("bits", [1, 63, 64, 65, 128, 200])
def test_distances(bits: int, rng: np.random.Generator) -> None:
    a, b = rng.random((5, bits)) < 0.5, rng.random((7, bits)) < 0.5
    expected = (a[:, None] != b[None]).sum(axis=2)
    x, y = Codes.from_bits(a).words, Codes.from_bits(b).words
    tile, row = np.empty((5, 7), np.uint16), np.empty(7, np.uint16)
    hamming_tile(x, y, tile)
    hamming_row(x[2], y, row)
    np.testing.assert_array_equal(tile, expected)
    np.testing.assert_array_equal(row, expected[2])
    assert hamming(x[4], y[6]) == expected[4, 6]
