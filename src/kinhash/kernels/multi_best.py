"""The k best of codes that arrive in any order: a heap of (distance, number) pairs, each in one word.

A pair is distance * 2^32 + number, so that one comparison orders by distance and breaks ties by number. The first of
the heap is the worst pair kept; the next must be smaller.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.vector import number_at, put

SHIFT = 32
NUMBER = (1 << SHIFT) - 1


@njit(cache=True, nogil=True)
def replace_worst(best: int, size: int, pair: int) -> None:
    """Put a pair in place of the worst one in the heap of `size` pairs at an address, and find the new worst."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and number_at(best + 8 * child + 8) > number_at(best + 8 * child):
            child += 1
        worse = number_at(best + 8 * child)
        if worse <= pair:
            break
        put(best + 8 * at, worse)
        at = child
    put(best + 8 * at, pair)


@njit(cache=True, nogil=True)
def count_best(best: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """How many kept pairs have each distance; places not filled yet count as the last distance."""
    counts[:] = 0
    for pair in best:
        counts[min(pair >> SHIFT, counts.shape[0] - 1)] += 1
