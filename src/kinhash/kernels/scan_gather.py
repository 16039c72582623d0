"""Codes that pass a filter, copied together."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.scan_walk import passes
from kinhash.kernels.vector import bytes_set, number_at, prefetch, put, trailing_zeros

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
