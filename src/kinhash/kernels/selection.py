"""Keeping what is near while codes arrive in ascending order: a histogram of distances, no heap.

A query accepts a code while its distance is below a threshold. As soon as k codes at distance <= D are known,
later ones at distance D can no longer win, so the threshold falls to D. Accepted codes go to a buffer, which is
cleaned when full; counting distances needs one increment per accepted code.

With k = 0 everything below the threshold is kept, in one buffer for all queries: a search within a radius.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.sliced import BLOCK, MANY_WORDS, ONE_WORD

GROUP = 4  # queries are padded to a multiple: kernels take two or four at a time


class Selection(NamedTuple):
    """What is known about a batch of queries so far."""

    words: NDArray[np.uint64]  # (m, width) queries; rows of zeros that accept nothing pad them
    accept: NDArray[np.int64]  # (m,) distances below this are accepted
    starts: NDArray[np.uint64]  # (m, B) the bits of 2^B - accept as full words, for the sliced counters
    below: NDArray[np.int64]  # (m,) how many codes nearer than `accept` are held
    counts: NDArray[np.int32]  # (m, bits + 2) how many codes of every distance were accepted
    rows: NDArray[np.int64]  # (m, capacity); with k = 0 (1, capacity)
    distances: NDArray[np.int32]  # likewise
    owners: NDArray[np.int32]  # (capacity,) with k = 0: which query a row belongs to
    sizes: NDArray[np.int64]  # (m,)
    k: int


def start_selection(queries: NDArray[np.uint64], bits: int, k: int, capacity: int, accept: int) -> Selection:
    """Nothing held yet; distances below `accept` are wanted (bits + 1: all)."""
    number, width = queries.shape
    padded = -(-number // GROUP) * GROUP
    capacity = capacity if k else max(capacity, padded * BLOCK)
    words = np.zeros((padded, width), dtype=np.uint64)
    words[:number] = queries
    limits = np.zeros(padded, dtype=np.int64)
    limits[:number] = accept
    planes = ONE_WORD if width == 1 else MANY_WORDS
    values = np.minimum(2**planes - limits, 2**planes - 1)
    starts = np.where(values[:, None] >> np.arange(planes) & 1, np.uint64(2**64 - 1), np.uint64(0))
    return Selection(
        words,
        limits,
        starts,
        np.zeros(padded, dtype=np.int64),
        np.zeros((padded, bits + 2), dtype=np.int32),
        np.empty((padded if k else 1, capacity), dtype=np.int64),
        np.empty((padded if k else 1, capacity), dtype=np.int32),
        np.empty(0 if k else capacity, dtype=np.int32),
        np.zeros(padded, dtype=np.int64),
        k,
    )


@njit(cache=True, nogil=True)
def keep(s: Any, q: int, row: int, distance: int) -> None:
    """Hold a code whose distance is below the threshold of query q, and lower the threshold where that follows."""
    if s.k == 0:
        at = s.sizes[0]
        s.rows[0, at], s.distances[0, at], s.owners[at] = row, distance, q
        s.sizes[0] = at + 1
        return
    if s.sizes[q] == s.rows.shape[1]:
        _clean(s, q)
    at = s.sizes[q]
    s.rows[q, at] = row
    s.distances[q, at] = distance
    s.sizes[q] = at + 1
    s.counts[q, distance] += 1
    s.below[q] += 1
    if s.below[q] >= s.k:
        while s.below[q] >= s.k:
            s.accept[q] -= 1
            s.below[q] -= s.counts[q, s.accept[q]]
        planes = s.starts.shape[1]
        value = min((1 << planes) - s.accept[q], (1 << planes) - 1)
        for w in range(planes):
            s.starts[q, w] = np.uint64(0) - np.uint64((value >> w) & 1)


@njit(cache=True, nogil=True)
def crowded(s: Any) -> bool:
    """A radius search might not have room for another block."""
    return s.k == 0 and s.rows.shape[1] - s.sizes[0] < BLOCK * s.words.shape[0]


def grown(s: Selection) -> Selection:
    """The same radius search with twice the room."""
    rows, distances, owners = (
        np.concatenate([a, np.empty_like(a)], axis=-1) for a in (s.rows, s.distances, s.owners)
    )
    return s._replace(rows=rows, distances=distances, owners=owners)


@njit(cache=True, nogil=True)
def _clean(s: Any, q: int) -> None:
    """Drop what can no longer be among the k nearest; what stays keeps its order."""
    room = s.k - s.below[q]
    kept = 0
    for i in range(s.sizes[q]):
        distance = s.distances[q, i]
        if distance == s.accept[q] and room > 0:
            room -= 1
        elif distance >= s.accept[q]:
            continue
        s.rows[q, kept] = s.rows[q, i]
        s.distances[q, kept] = distance
        kept += 1
    s.sizes[q] = kept


@njit(cache=True, nogil=True)
def merge(s: Any, later: Any) -> None:
    """Take over what a selection over later rows holds."""
    for q in range(s.words.shape[0]):
        for i in range(later.sizes[q]):
            if later.distances[q, i] < s.accept[q]:
                keep(s, q, later.rows[q, i], later.distances[q, i])


@njit(cache=True, nogil=True)
def finish(s: Any, rows: NDArray[np.int64], distances: NDArray[np.int32]) -> None:
    """The nearest in (distance, row) order, by counting; the outputs are (queries, at most k held)."""
    places = np.empty(s.counts.shape[1] + 1, dtype=np.int64)
    for q in range(rows.shape[0]):
        places[:] = 0
        for i in range(s.sizes[q]):
            places[s.distances[q, i] + 1] += 1
        for d in range(1, places.shape[0]):
            places[d] += places[d - 1]
        for i in range(s.sizes[q]):
            distance = s.distances[q, i]
            place = places[distance]
            places[distance] = place + 1
            if place < rows.shape[1]:
                rows[q, place] = s.rows[q, i]
                distances[q, place] = distance


@njit(cache=True, nogil=True)
def order_within(
    queries: NDArray[np.int32],
    rows: NDArray[np.int64],
    distances: NDArray[np.int32],
    places: NDArray[np.int64],
    out_rows: NDArray[np.int64],
    out_distances: NDArray[np.int32],
) -> None:
    """Hits of ascending rows into (query, distance, row) order; `places` is (queries, radius + 1) zeros."""
    for i in range(len(rows)):
        places[queries[i], distances[i]] += 1
    total = 0
    for q in range(places.shape[0]):
        for d in range(places.shape[1]):
            count = places[q, d]
            places[q, d] = total
            total += count
    for i in range(len(rows)):
        place = places[queries[i], distances[i]]
        places[queries[i], distances[i]] = place + 1
        out_rows[place] = rows[i]
        out_distances[place] = distances[i]
