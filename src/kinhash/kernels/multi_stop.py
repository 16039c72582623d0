"""When a search of multi-index hashing should be left to the scan: what is still needed, and what it would cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.multi_best import SHIFT, count_best


@njit(cache=True, nogil=True)
def last_round(
    p: Any, best: NDArray[np.int64], found: NDArray[np.int64], done: int, counts: NDArray[np.int64]
) -> int:
    """The round after which the search is likely to be complete: where k codes are expected, from those met."""
    if found.shape[0] > 0:
        return (best[0] >> SHIFT) - 1
    count_best(best, counts)
    expected = 0.0
    for distance in range(counts.shape[0] - 1):
        if counts[distance] > 0:
            expected += counts[distance] / p.met[done, distance]
        if expected >= best.shape[0]:
            return distance
    return counts.shape[0] - 1  # what was met says nothing yet


@njit(cache=True, nogil=True, forceinline=True)
def too_dear(p: Any, spent: float, done: int, share: float, needed: int) -> bool:
    """Whether the scan is cheaper: what is still needed, at the price that rounds have had for this query so far."""
    if spent <= p.free:
        return False
    if needed >= p.rounds.shape[0] - 1:  # no reason yet to hope for less
        return True
    expected = p.rounds[done] + share * (p.rounds[done + 1] - p.rounds[done])
    return spent * max(1.0, p.rounds[needed + 1] / expected) > p.scan
