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
_SHIFT = 10  # an item is row * 1024 + distance, one store into one cache line
_DISTANCE = (1 << _SHIFT) - 1
_SIZE, _BELOW = 0, 1


class Selection(NamedTuple):
    """What is known about a batch of queries so far."""

    words: NDArray[np.uint64]  # (m, width) queries; rows of zeros that accept nothing pad them
    accept: NDArray[np.int64]  # (m,) distances below this are accepted
    starts: NDArray[np.uint64]  # (m, B) the bits of 2^B - accept as full words, for the sliced counters
    counts: NDArray[np.int32]  # (m, bits + 2) how many codes of every distance were accepted
    held: NDArray[np.int64]  # (m, 2) how many items are held, and how many are nearer than `accept`
    items: NDArray[np.int64]  # (m, capacity); with k = 0 (1, capacity)
    owners: NDArray[np.int32]  # (capacity,) with k = 0: which query an item belongs to
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
    return Selection(
        words,
        limits,
        np.where(values[:, None] >> np.arange(planes) & 1, np.uint64(2**64 - 1), np.uint64(0)),
        np.zeros((padded, bits + 2), dtype=np.int32),
        np.zeros((padded, 2), dtype=np.int64),
        np.empty((padded if k else 1, capacity), dtype=np.int64),
        np.empty(0 if k else capacity, dtype=np.int32),
        k,
    )


@njit(cache=True, nogil=True, forceinline=True)
def keep(s: Any, q: int, row: int, distance: int) -> None:
    """Hold a code whose distance is below the threshold of query q, and lower the threshold where that follows."""
    if s.k == 0:
        at = s.held[0, _SIZE]
        s.items[0, at] = (row << _SHIFT) + distance
        s.owners[at] = q
        s.held[0, _SIZE] = at + 1
        return
    if s.held[q, _SIZE] == s.items.shape[1]:
        s.held[q, _SIZE] = _clean(s.items[q], s.accept[q], s.k - s.held[q, _BELOW])
    at = s.held[q, _SIZE]
    s.items[q, at] = (row << _SHIFT) + distance
    s.held[q, _SIZE] = at + 1
    s.counts[q, distance] += 1
    s.held[q, _BELOW] += 1
    if s.held[q, _BELOW] >= s.k:
        lowered = _lowered(s.counts[q], s.held[q], s.accept[q], s.k)
        s.accept[q] = lowered
        _set_start(s.starts[q], lowered)


@njit(cache=True, nogil=True)
def _lowered(counts: NDArray[np.int32], held: NDArray[np.int64], accept: int, k: int) -> int:
    """The k-th distance held: the new threshold."""
    while held[_BELOW] >= k:
        accept -= 1
        held[_BELOW] -= counts[accept]
    return accept


@njit(cache=True, nogil=True)
def _set_start(start: NDArray[np.uint64], accept: int) -> None:
    """The bits of 2^B - accept; nothing is accepted at 0, which B bits cannot tell and callers ask for."""
    planes = start.shape[0]
    value = min((1 << planes) - accept, (1 << planes) - 1)
    for w in range(planes):
        start[w] = np.uint64(0) - np.uint64((value >> w) & 1)


@njit(cache=True, nogil=True)
def _clean(items: NDArray[np.int64], accept: int, room: int) -> int:
    """Drop what can no longer be among the k nearest; what stays keeps its order. Returns how many stay."""
    kept = 0
    for i in range(items.shape[0]):
        distance = items[i] & _DISTANCE
        if distance > accept or (distance == accept and room == 0):
            continue
        if distance == accept:
            room -= 1
        items[kept] = items[i]
        kept += 1
    return kept


@njit(cache=True, nogil=True, forceinline=True)
def crowded(s: Any) -> bool:
    """A radius search might not have room for another block."""
    return s.k == 0 and s.items.shape[1] - s.held[0, _SIZE] < BLOCK * s.words.shape[0]


def grown(s: Selection) -> Selection:
    """The same radius search with twice the room."""
    items, owners = (np.concatenate([a, np.empty_like(a)], axis=-1) for a in (s.items, s.owners))
    return s._replace(items=items, owners=owners)


@njit(cache=True, nogil=True)
def merge(s: Any, later: Any) -> None:
    """Take over what a selection over later rows holds."""
    for q in range(s.words.shape[0]):
        for i in range(later.held[q, _SIZE]):
            distance = later.items[q, i] & _DISTANCE
            if distance < s.accept[q]:
                keep(s, q, later.items[q, i] >> _SHIFT, distance)


@njit(cache=True, nogil=True)
def finish(s: Any, rows: NDArray[np.int64], distances: NDArray[np.int32]) -> None:
    """The nearest in (distance, row) order, by counting; the outputs are (queries, at most k held)."""
    places = np.empty(s.counts.shape[1] + 1, dtype=np.int64)
    for q in range(rows.shape[0]):
        places[:] = 0
        items = s.items[q, : s.held[q, _SIZE]]
        for item in items:
            places[(item & _DISTANCE) + 1] += 1
        for d in range(1, places.shape[0]):
            places[d] += places[d - 1]
        for item in items:
            distance = item & _DISTANCE
            place = places[distance]
            places[distance] = place + 1
            if place < rows.shape[1]:
                rows[q, place] = item >> _SHIFT
                distances[q, place] = distance


@njit(cache=True, nogil=True)
def order_within(
    owners: NDArray[np.int32],
    items: NDArray[np.int64],
    places: NDArray[np.int64],
    rows: NDArray[np.int64],
    distances: NDArray[np.int32],
) -> None:
    """Items of ascending rows into (query, distance, row) order; `places` is (queries, radius + 1) zeros and
    holds afterwards where each ends."""
    for i in range(items.shape[0]):
        places[owners[i], items[i] & _DISTANCE] += 1
    total = 0
    for q in range(places.shape[0]):
        for d in range(places.shape[1]):
            count = places[q, d]
            places[q, d] = total
            total += count
    for i in range(items.shape[0]):
        distance = items[i] & _DISTANCE
        place = places[owners[i], distance]
        places[owners[i], distance] = place + 1
        rows[place] = items[i] >> _SHIFT
        distances[place] = distance
