"""Codes that pass a filter, copied together; and counts of distances."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.scan_walk import passes
from kinhash.kernels.vector import bytes_set, number_at, prefetch, put, trailing_zeros, word_at

_TOP = np.uint64(1 << 63)
_AHEAD = 24  # rows


@njit(cache=True, nogil=True)
def passing_rows(mask: int, count: int, base: int, out: NDArray[np.int64]) -> int:
    """Numbers of the rows whose mask byte is not 0, 64 bytes at a look; returns how many.

    `out` has room for two more: the first two of 64 are written without asking, since a processor that guesses
    wrong whether there is one loses more time than the writing takes.
    """
    found = 0
    whole = count & -64
    for row in range(0, whole, 64):
        some = bytes_set(mask + row)
        for _ in range(2):
            out[found] = base + row + trailing_zeros(some | _TOP)
            found += some != np.uint64(0)
            some &= some - np.uint64(1)
        while some != np.uint64(0):
            out[found] = base + row + trailing_zeros(some)
            found += 1
            some &= some - np.uint64(1)
    for row in range(whole, count):
        if passes(mask, row):
            out[found] = base + row
            found += 1
    return found


@njit(cache=True, nogil=True)
def gather(address: int, base: int, rows: NDArray[np.int64], out: int, width: int) -> None:
    """The words of numbered rows of a run of codes whose first row has number `base`.

    Rows far apart are asked for ahead of time: waiting for each took four times as long.
    """
    last = rows.shape[0] - 1
    for i in range(rows.shape[0]):
        prefetch(address + 8 * width * (rows[min(i + _AHEAD, last)] - base))
        at, to = address + 8 * width * (rows[i] - base), out + 8 * width * i
        for w in range(width):
            put(to + 8 * w, number_at(at + 8 * w))


@njit(cache=True, nogil=True)
def count_distances(query: NDArray[np.uint64], address: int, count: int, out: NDArray[np.int64]) -> None:
    """Add the distances of a query to `count` codes into `out` (4, bits + 1): four rows, so that equal
    neighbours do not wait for each other's counter."""
    width = query.shape[0]
    for i in range(count):
        total = 0
        for w in range(width):
            total += popcount64(query[w] ^ word_at(address + 8 * (width * i + w)))
        out[i & 3, total] += 1
