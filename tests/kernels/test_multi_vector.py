"""Sixteen signatures at once, against counting bits one by one."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from kinhash.kernels.multi_vector import half_at, near_signatures


@njit
def _near(address: int, query: int, limit: int) -> np.uint64:
    return near_signatures(address, query, limit)


@njit
def _halves(address: int) -> tuple[int, int]:
    return half_at(address), half_at(address + 4)


@pytest.mark.parametrize("limit", [0, 5, 15, 16, 31, 32, 60])
def test_near_signatures(limit: int, rng: np.random.Generator) -> None:
    signatures = rng.integers(0, 2**32, 17, dtype=np.uint32)
    query = int(signatures[3]) ^ 0b101
    for start in (0, 1):  # no alignment is asked for
        mask = int(_near(signatures.ctypes.data + 4 * start, query, limit))
        expected = [(int(s) ^ query).bit_count() <= limit for s in signatures[start : start + 16]]
        assert [bool(mask >> i & 1) for i in range(16)] == expected
        assert mask < 1 << 16


def test_halves_of_a_word() -> None:
    words = np.array([(1 << 63) + 3], dtype=np.uint64)
    assert _halves(words.ctypes.data) == (3, 1 << 31)
