"""The k best of codes that arrive in any order: a heap of (distance, number) pairs, each in one word.

A pair is distance * 2^32 + number, so that one comparison orders by distance and breaks ties by number. `best[0]`
is the worst pair kept; the next must be smaller.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

SHIFT = 32
NUMBER = (1 << SHIFT) - 1


@njit(cache=True, nogil=True, forceinline=True)
def replace_worst(best: NDArray[np.int64], pair: int) -> None:
    """Put a pair in place of the worst one, and find the new worst."""
    size = best.shape[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and best[child + 1] > best[child]:
            child += 1
        if best[child] <= pair:
            break
        best[at] = best[child]
        at = child
    best[at] = pair


@njit(cache=True, nogil=True)
def count_best(best: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """How many kept pairs have each distance; places not filled yet count as the last distance."""
    counts[:] = 0
    for pair in best:
        counts[min(pair >> SHIFT, counts.shape[0] - 1)] += 1
