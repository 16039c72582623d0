"""Precision and its relatives over a ranking that comes as groups of ties.

Group g holds `sizes[g]` items at the same distance, `hits[g]` of them relevant; empty groups are allowed. Every
value is the mean over all orders inside the groups; groups of one item give the value of that single order.
For one tie group: `before` items and `found` relevant ones precede it, it has n items, r of them relevant.
Item j of the group (1-based) is relevant with chance r/n, and then (j-1)(r-1)/(n-1) of the j-1 items before it
in the group are expected to be relevant: the closed form of McSherry & Najork, "Computing information retrieval
performance measures efficiently in the presence of tied scores" (ECIR 2008).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Counts = NDArray[np.int64]
EVERYTHING = 1 << 62  # a depth that no ranking reaches


@njit(cache=True, nogil=True)
def tie_precision(before: int, found: int, n: int, r: float, m: int) -> float:
    """Expected sum of precision at the relevant ones of the first m items of a tie group."""
    if r <= 0:
        return 0.0
    inverse, rising = 0.0, 0.0
    for j in range(m):
        inverse += 1.0 / (before + j + 1)
        rising += j / (before + j + 1)
    slope = (r - 1) / (n - 1) if n > 1 else 0.0
    return r / n * ((found + 1) * inverse + slope * rising)


@njit(cache=True, nogil=True)
def precision_sum(sizes: Counts, hits: Counts, groups: int, depth: int) -> float:
    """Expected sum of precision at the relevant ranks up to `depth`; over the relevant items this is AP."""
    total = 0.0
    before, found = 0, 0
    for g in range(groups):
        if before >= depth:
            break
        total += tie_precision(before, found, sizes[g], hits[g], min(sizes[g], depth - before))
        before += sizes[g]
        found += hits[g]
    return total


@njit(cache=True, nogil=True)
def found_at(sizes: Counts, hits: Counts, groups: int, depth: int) -> float:
    """Expected number of relevant items among the first `depth`."""
    before, found = 0, 0.0
    for g in range(groups):
        if before + sizes[g] >= depth:
            inside = depth - before
            return found + (hits[g] * inside / sizes[g] if inside > 0 else 0.0)
        before += sizes[g]
        found += hits[g]
    return found


@njit(cache=True, nogil=True)
def hit_at(sizes: Counts, hits: Counts, groups: int, depth: int) -> float:
    """Chance that at least one of the first `depth` items is relevant."""
    before = 0
    for g in range(groups):
        m = min(sizes[g], depth - before)
        if m <= 0 and before >= depth:
            return 0.0
        if hits[g] > 0:
            miss = 1.0
            for i in range(m):
                miss *= max(sizes[g] - hits[g] - i, 0) / (sizes[g] - i)
            return 1.0 - miss
        before += sizes[g]
    return 0.0


@njit(cache=True, nogil=True)
def average_over_found(sizes: Counts, hits: Counts, groups: int, depth: int) -> float:
    """Expected AP@depth divided by the hits found: 0 where nothing is found.

    The divisor is random where the cut goes through a tie group, so that group is averaged over its
    hypergeometric number of hits.
    """
    total = 0.0
    before, found = 0, 0
    for g in range(groups):
        n, r = sizes[g], hits[g]
        if before + n > depth:
            return _cut_group(total, before, found, n, r, depth - before)
        total += tie_precision(before, found, n, r, n)
        before += n
        found += r
    return total / found if found > 0 else 0.0


@njit(cache=True, nogil=True)
def _cut_group(total: float, before: int, found: int, n: int, r: int, m: int) -> float:
    """E[(total + gain) / (found + x)], x relevant among the first m of n items of which r are relevant."""
    inverse = 0.0
    rising = 0.0
    for j in range(m):
        inverse += 1.0 / (before + j + 1)
        rising += j / (before + j + 1)
    low, high = max(0, m - (n - r)), min(m, r)
    mode = min(max((m + 1) * (r + 1) // (n + 2), low), high)
    value = 0.0
    mass = 0.0
    for direction in (1, -1):  # weights relative to the mode: nothing overflows, what underflows is nothing
        weight = 1.0
        x = mode
        while low <= x <= high and weight > 0.0:
            if x != mode or direction == 1:
                mass += weight
                value += weight * _average_given(total, found, x, m, inverse, rising)
            if direction == 1:
                weight *= (r - x) * (m - x) / ((x + 1.0) * (n - r - m + x + 1.0))
            else:
                weight *= x * (n - r - m + x) / ((r - x + 1.0) * (m - x + 1.0))
            x += direction
    return value / mass


@njit(cache=True, nogil=True)
def _average_given(total: float, found: int, x: int, m: int, inverse: float, rising: float) -> float:
    if found + x == 0:
        return 0.0
    if x == 0:
        return total / found
    slope = (x - 1) / (m - 1) if m > 1 else 0.0
    return (total + x / m * ((found + 1) * inverse + slope * rising)) / (found + x)


@njit(cache=True, nogil=True)
def precision_within(
    levels: NDArray[np.float64], sizes: Counts, hits: Counts, groups: int, radius: float
) -> float:
    """Share of relevant items among those at distance <= radius; 0 where there is none."""
    items, found = 0, 0
    for g in range(groups):
        if levels[g] <= radius:
            items += sizes[g]
            found += hits[g]
    return found / items if items > 0 else 0.0
