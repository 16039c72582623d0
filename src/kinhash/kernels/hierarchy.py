"""Hierarchical precision: how much similarity the first k items collect, relative to the best possible order.

HP@k = sum_{i<=k} s_i / sum_{i<=k} s*_i (Deng, Berg & Fei-Fei, CVPR 2011; Barz & Denzler, WACV 2019). Inside a
group of ties the expected cumulative similarity is linear in the rank.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def ideal_cumulative(
    similarity: Floats, order: NDArray[np.int64], counts: NDArray[np.int64], own: int, out: Floats
) -> None:
    """Cumulative similarity of the best order: classes by falling similarity, each as often as it occurs.

    `own` is the class of the query where the query is part of the database and must be left out, else -1.
    """
    rank = 0
    total = 0.0
    for label in order:
        copies = counts[label] - (1 if label == own else 0)
        for _ in range(min(copies, out.shape[0] - rank)):
            total += similarity[label]
            out[rank] = total
            rank += 1
        if rank == out.shape[0]:
            return


@njit(cache=True, nogil=True)
def hierarchical_curve(
    sizes: NDArray[np.int64], gains: Floats, groups: int, ideal: Floats, out: Floats
) -> float:
    """Write HP@1..K; return the expected similarity of the item at rank K."""
    rank = 0
    collected = 0.0
    last = 0.0
    for g in range(groups):
        if sizes[g] == 0:
            continue
        inside = min(sizes[g], out.shape[0] - rank)
        last = gains[g] / sizes[g]
        for j in range(inside):
            out[rank + j] = (collected + last * (j + 1)) / ideal[rank + j]
        collected += gains[g]
        rank += inside
        if rank == out.shape[0]:
            break
    return last


@njit(cache=True, nogil=True)
def area(curve: Floats, last: float, ideal_total: float, corrected: bool) -> float:
    """Average hierarchical precision from HP@1..K.

    Corrected: the trapezoid rule with step 1/K. Legacy: its right end is s_K / S*_K instead of HP@K.
    """
    k = curve.shape[0]
    total = 0.0
    for value in curve:
        total += value
    end = curve[k - 1] if corrected else last / ideal_total
    return (total - (curve[0] + end) / 2) / k
