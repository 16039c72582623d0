"""Codes that pass a filter, copied together; and counts of distances."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.vector import trailing_zeros, word_at

_HIGH = np.uint64(0x0101010101010101)


@njit(cache=True, nogil=True)
def passing_rows(mask: int, count: int, base: int, out: NDArray[np.int64]) -> int:
    """Numbers of the rows whose mask byte is 1, eight bytes at a look; returns how many."""
    found = 0
    row = 0
    while row < count and (mask + row) & 7:
        if (word_at((mask + row) & -8) >> np.uint64(8 * ((mask + row) & 7))) & np.uint64(1):
            out[found] = base + row
            found += 1
        row += 1
    while row < count:
        some = word_at(mask + row) & _HIGH
        while some != np.uint64(0):
            at = row + (trailing_zeros(some) >> 3)
            if at < count:
                out[found] = base + at
                found += 1
            some &= some - np.uint64(1)
        row += 8
    return found


@njit(cache=True, nogil=True)
def gather(address: int, base: int, rows: NDArray[np.int64], out: NDArray[np.uint64]) -> None:
    """The words of numbered rows of a run of codes whose first row has number `base`."""
    width = out.shape[1]
    for i in range(rows.shape[0]):
        at = address + 8 * width * (rows[i] - base)
        for w in range(width):
            out[i, w] = word_at(at + 8 * w)


@njit(cache=True, nogil=True)
def count_distances(query: NDArray[np.uint64], address: int, count: int, out: NDArray[np.int64]) -> None:
    """Add the distances of a query to `count` codes into `out` (4, bits + 1): four rows, so that equal
    neighbours do not wait for each other's counter."""
    width = query.shape[0]
    for i in range(count):
        total = np.int64(0)
        for w in range(width):
            total += popcount64(query[w] ^ word_at(address + 8 * (width * i + w)))
        out[i & 3, total] += 1
