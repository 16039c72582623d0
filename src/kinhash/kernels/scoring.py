"""One pass over the distances of a query yields every metric of its ranking.

The ranking becomes groups of ties (see `ranking`): from a histogram of Hamming distances, or from a sorted row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import hamming_row
from kinhash.kernels.hierarchy import area, hierarchical_curve, ideal_cumulative
from kinhash.kernels.ranking import (
    EVERYTHING,
    average_over_found,
    found_at,
    hit_at,
    precision_sum,
    precision_within,
)

AT_K = 5  # columns before those of hits: ap of the whole ranking; at k: ap over found, ap over relevant, precision, recall


class Plan(NamedTuple):
    """What is asked of every query of a block, and what its items are worth."""

    k: int  # depth of the hierarchical curve and of everything else that is cut off
    full: bool  # average precision of the whole ranking
    corrected: bool
    stable: bool
    leave_out: bool  # query q is item q of the database and must be skipped
    hits: NDArray[np.int64]  # cutoffs of hit@K
    radii: NDArray[np.float64]
    labels: NDArray[np.int64]  # (queries,)
    rows: NDArray[np.int64]  # (queries,) row of `similarities` that belongs to the query
    items: NDArray[np.int64]  # (n,) label of every item of the database, column of `similarities`
    relevant: NDArray[np.int64]  # (queries,) relevant items in the database
    counts: NDArray[np.int64]  # (C,) items of every label
    similarities: NDArray[np.float64]  # (M, rows, C)
    order: NDArray[np.int64]  # (M, rows, C) labels by falling similarity


@njit(cache=True, nogil=True)
def score_codes(
    queries: NDArray[np.uint64],
    database: NDArray[np.uint64],
    bits: int,
    plan: Plan,
    start: int,
    out: NDArray[np.float64],
    curves: NDArray[np.float64],
) -> None:
    """Score codes `queries` (block, w), which are number `start`... of the set, by one histogram each.

    Fills out (block, columns), adds HP curves to curves (M, K).
    """
    distances = np.empty(database.shape[0], np.uint16)
    sizes = np.empty(bits + 1, np.int64)
    hits = np.empty(bits + 1, np.int64)
    gains = np.empty((plan.similarities.shape[0], bits + 1))
    levels = np.arange(bits + 1).astype(np.float64)
    for b in range(queries.shape[0]):
        q = start + b
        hamming_row(queries[b], database, distances)
        _histogram(distances, q, plan, sizes, hits)
        _gains_by_level(distances, q, plan, sizes, gains)
        _score(levels, sizes, hits, gains, bits + 1, q, plan, out[b], curves)


@njit(cache=True, nogil=True)
def _histogram(
    distances: NDArray[np.uint16], q: int, plan: Plan, sizes: NDArray[np.int64], hits: NDArray[np.int64]
) -> None:
    sizes[:] = 0
    hits[:] = 0
    label = plan.labels[q]
    for i in range(distances.shape[0]):
        sizes[distances[i]] += 1
        hits[distances[i]] += plan.items[i] == label
    if plan.leave_out:
        sizes[distances[q]] -= 1
        hits[distances[q]] -= plan.items[q] == label


@njit(cache=True, nogil=True)
def _gains_by_level(
    distances: NDArray[np.uint16], q: int, plan: Plan, sizes: NDArray[np.int64], gains: NDArray[np.float64]
) -> None:
    """Sum of similarities at every distance that the first k items can have."""
    gains[:] = 0.0
    if gains.shape[0] == 0:
        return
    last = 0
    inside = sizes[0]
    while inside < plan.k:
        last += 1
        inside += sizes[last]
    row = plan.rows[q]
    own = q if plan.leave_out else -1
    for i in range(distances.shape[0]):
        if distances[i] <= last and i != own:
            for m in range(gains.shape[0]):
                gains[m, distances[i]] += plan.similarities[m, row, plan.items[i]]


@njit(cache=True, nogil=True)
def score_rows(
    distances: NDArray[np.float64],
    order: NDArray[np.int64],
    thresholds: NDArray[np.float64],
    plan: Plan,
    start: int,
    out: NDArray[np.float64],
    curves: NDArray[np.float64],
) -> None:
    """Score rows of distances (block, n) of any kind.

    `order` (block, n) sorts them; where it is empty, only items up to thresholds (block,) are ranked.
    """
    n = distances.shape[1]
    levels = np.empty(n)
    sizes = np.empty(n, np.int64)
    hits = np.empty(n, np.int64)
    gains = np.empty((plan.similarities.shape[0], n))
    for b in range(distances.shape[0]):
        q = start + b
        ranked = order[b] if order.shape[1] > 0 else _order_up_to(distances[b], thresholds[b])
        groups = _group(distances[b], ranked, q, plan, levels, sizes, hits, gains)
        _score(levels, sizes, hits, gains, groups, q, plan, out[b], curves)


@njit(cache=True, nogil=True)
def _order_up_to(distances: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    near = np.flatnonzero(distances <= threshold)
    return near[np.argsort(distances[near], kind="mergesort")]


@njit(cache=True, nogil=True)
def _group(
    distances: NDArray[np.float64],
    ranked: NDArray[np.int64],
    q: int,
    plan: Plan,
    levels: NDArray[np.float64],
    sizes: NDArray[np.int64],
    hits: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> int:
    """Cut a sorted row into groups of equal distance, or of one item each where ties keep their order."""
    row = plan.rows[q]
    own = q if plan.leave_out else -1
    g = -1
    before, rank = 0, 0  # items before the group, items so far
    for i in ranked:
        if i == own:
            continue
        if g < 0 or plan.stable or distances[i] != levels[g]:
            g += 1
            before = rank
            levels[g], sizes[g], hits[g] = distances[i], 0, 0
            gains[:, g] = 0.0
        sizes[g] += 1
        rank += 1
        hits[g] += plan.items[i] == plan.labels[q]
        if before < plan.k:
            for m in range(gains.shape[0]):
                gains[m, g] += plan.similarities[m, row, plan.items[i]]
    return g + 1


@njit(cache=True, nogil=True)
def _score(
    levels: NDArray[np.float64],
    sizes: NDArray[np.int64],
    hits: NDArray[np.int64],
    gains: NDArray[np.float64],
    groups: int,
    q: int,
    plan: Plan,
    out: NDArray[np.float64],
    curves: NDArray[np.float64],
) -> None:
    """All columns of one query; what is undefined for it (no relevant item, nothing similar) stays NaN."""
    if plan.relevant[q] > 0:
        _score_relevance(levels, sizes, hits, groups, plan.relevant[q], plan, out)
    column = out.shape[0] - gains.shape[0]
    row = plan.rows[q]
    own = plan.items[q] if plan.leave_out else -1
    ideal = np.empty(plan.k)
    curve = np.empty(plan.k)
    for m in range(gains.shape[0]):
        ideal_cumulative(plan.similarities[m, row], plan.order[m, row], plan.counts, own, ideal)
        if ideal[0] > 0:
            last = hierarchical_curve(sizes, gains[m], groups, ideal, curve)
            out[column + m] = area(curve, last, ideal[plan.k - 1], plan.corrected)
            curves[m] += curve


@njit(cache=True, nogil=True)
def _score_relevance(
    levels: NDArray[np.float64],
    sizes: NDArray[np.int64],
    hits: NDArray[np.int64],
    groups: int,
    relevant: int,
    plan: Plan,
    out: NDArray[np.float64],
) -> None:
    if plan.full:
        out[0] = precision_sum(sizes, hits, groups, EVERYTHING) / relevant
    found = found_at(sizes, hits, groups, plan.k)
    out[1] = average_over_found(sizes, hits, groups, plan.k)
    out[2] = precision_sum(sizes, hits, groups, plan.k) / min(plan.k, relevant)
    out[3] = found / plan.k
    out[4] = found / relevant
    column = AT_K
    for depth in plan.hits:
        out[column] = hit_at(sizes, hits, groups, depth)
        column += 1
    for radius in plan.radii:
        out[column] = precision_within(levels, sizes, hits, groups, radius)
        column += 1
