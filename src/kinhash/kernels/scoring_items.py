"""Hierarchical precision and rank correlation where every item has its own similarity to every query."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.hierarchy import area, hierarchical_curve

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def score_items(
    distances: Floats,
    order: NDArray[np.int64],
    similarities: Floats,
    ideal: Floats,
    stable: bool,
    corrected: bool,
    out: Floats,
    curves: Floats,
) -> None:
    """AHP@K of every row of `distances` (block, n), which `order` sorts, into out (block,); HP is added to curves (K,).

    `ideal` (block, K) is the cumulative similarity of the best order. A query with nothing similar stays NaN.
    """
    k = ideal.shape[1]
    sizes = np.empty(distances.shape[1], np.int64)
    gains = np.empty(distances.shape[1])
    curve = np.empty(k)
    for b in range(distances.shape[0]):
        if ideal[b, 0] > 0:
            groups = _first_groups(distances[b], order[b], similarities[b], k, stable, sizes, gains)
            last = hierarchical_curve(sizes, gains, groups, ideal[b], curve)
            out[b] = area(curve, last, ideal[b, k - 1], corrected)
            curves += curve


@njit(cache=True, nogil=True)
def _first_groups(
    distances: Floats,
    order: NDArray[np.int64],
    similarities: Floats,
    k: int,
    stable: bool,
    sizes: NDArray[np.int64],
    gains: Floats,
) -> int:
    """Groups of equal distance, whole ones, until they hold k items; return how many groups."""
    g = -1
    level = 0.0
    for rank in range(order.shape[0]):
        i = order[rank]
        if g < 0 or stable or distances[i] != level:
            if rank >= k:
                break
            g += 1
            level = distances[i]
            sizes[g] = 0
            gains[g] = 0.0
        sizes[g] += 1
        gains[g] += similarities[i]
    return g + 1
