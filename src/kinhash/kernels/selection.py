"""Keeping what is near while codes arrive in ascending order: a histogram of distances, no heap.

A query accepts a code while its distance is below a threshold. As soon as k codes at distance <= D are known,
later ones at distance D can no longer win, so the threshold falls to D. Accepted codes go to a buffer, which is
cleaned when full; counting distances needs one increment per accepted code.

With k = 0 everything below the threshold is kept, in one buffer for all queries: a search within a radius.

Kernels see the arrays as addresses (`Places`): an array handed through Numba functions is counted up and down
with locked instructions, which took ten times as long as the selection itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.sliced import BLOCK, MANY_WORDS, ONE_WORD
from kinhash.kernels.vector import number_at, put

GROUP = 4  # queries are padded to a multiple: kernels take two or four at a time
_SHIFT = 10  # an item is row * 1024 + distance, one store into one cache line
_DISTANCE = (1 << _SHIFT) - 1


class Places(NamedTuple):
    """Where the arrays of a selection are, and their sizes: plain numbers, free to pass around."""

    queries: int  # (m, width) words; rows of zeros that accept nothing pad them
    accept: int  # (m,) distances below this are accepted
    starts: int  # (m, planes) the bits of 2^planes - accept as full words, for the sliced counters
    counts: int  # (m, bins) how many codes of every distance were accepted
    below: int  # (m,) how many accepted codes are nearer than `accept`
    size: int  # (m,) how many items are held; with k = 0 the first is that of all
    items: int  # (m, capacity); with k = 0 (1, capacity)
    owners: int  # (capacity,) with k = 0: which query an item belongs to
    number: int
    width: int
    planes: int
    bins: int
    capacity: int
    k: int


class Selection(NamedTuple):
    """What is known about a batch of queries so far."""

    words: NDArray[np.uint64]
    accept: NDArray[np.int64]
    starts: NDArray[np.uint64]
    counts: NDArray[np.int64]
    below: NDArray[np.int64]
    size: NDArray[np.int64]
    items: NDArray[np.int64]
    owners: NDArray[np.int64]
    k: int

    def places(self) -> Places:
        """For the kernels; valid while this object lives."""
        sizes = (*self.words.shape, self.starts.shape[1], self.counts.shape[1], self.items.shape[1], self.k)
        return Places(*(array.ctypes.data for array in self[:-1]), *sizes)


def start_selection(queries: NDArray[np.uint64], bits: int, k: int, capacity: int, accept: int) -> Selection:
    """Nothing held yet; distances below `accept` are wanted (bits + 1: all)."""
    number, width = queries.shape
    padded = -(-number // GROUP) * GROUP
    words = np.zeros((padded, width), dtype=np.uint64)
    words[:number] = queries
    limits = np.zeros(padded, dtype=np.int64)
    limits[:number] = accept
    planes = ONE_WORD if width == 1 else MANY_WORDS
    values = np.minimum(2**planes - limits, 2**planes - 1)
    capacity = capacity if k else max(capacity, padded * BLOCK)
    return Selection(
        words,
        limits,
        np.where(values[:, None] >> np.arange(planes) & 1, np.uint64(2**64 - 1), np.uint64(0)),
        np.zeros((padded, bits + 2), dtype=np.int64),
        np.zeros(padded, dtype=np.int64),
        np.zeros(padded, dtype=np.int64),
        np.empty((padded if k else 1, capacity), dtype=np.int64),
        np.empty(0 if k else capacity, dtype=np.int64),
        k,
    )


@njit(cache=True, nogil=True, forceinline=True)
def keep(s: Places, q: int, row: int, distance: int) -> None:
    """Hold a code whose distance is below the threshold of query q, and lower the threshold where that follows."""
    if s.k == 0:
        at = number_at(s.size)
        put(s.items + 8 * at, (row << _SHIFT) + distance)
        put(s.owners + 8 * at, q)
        put(s.size, at + 1)
        return
    at = number_at(s.size + 8 * q)
    items = s.items + 8 * s.capacity * q
    below = number_at(s.below + 8 * q) + 1
    if at == s.capacity:
        at = _clean(items, at, number_at(s.accept + 8 * q), s.k - below + 1)
    put(items + 8 * at, (row << _SHIFT) + distance)
    put(s.size + 8 * q, at + 1)
    counts = s.counts + 8 * s.bins * q
    put(counts + 8 * distance, number_at(counts + 8 * distance) + 1)
    if below >= s.k:
        below = _lower(s, q, counts, below)
    put(s.below + 8 * q, below)


@njit(cache=True, nogil=True, forceinline=True)
def _lower(s: Places, q: int, counts: int, below: int) -> int:
    """The k-th distance held becomes the threshold; how many are nearer than that."""
    accept = number_at(s.accept + 8 * q)
    while below >= s.k:
        accept -= 1
        below -= number_at(counts + 8 * accept)
    put(s.accept + 8 * q, accept)
    start = s.starts + 8 * s.planes * q
    value = min((1 << s.planes) - accept, (1 << s.planes) - 1)  # nothing is accepted at 0: callers ask for it
    for w in range(s.planes):
        put(start + 8 * w, -((value >> w) & 1))
    return below


@njit(cache=True, nogil=True)
def _clean(items: int, number: int, accept: int, room: int) -> int:
    """Drop what can no longer be among the k nearest; what stays keeps its order. Returns how many stay."""
    kept = 0
    for i in range(number):
        item = number_at(items + 8 * i)
        distance = item & _DISTANCE
        if distance > accept or (distance == accept and room == 0):
            continue
        if distance == accept:
            room -= 1
        put(items + 8 * kept, item)
        kept += 1
    return kept


@njit(cache=True, nogil=True, forceinline=True)
def crowded(s: Places) -> bool:
    """A radius search might not have room for another block."""
    return s.k == 0 and s.capacity - number_at(s.size) < BLOCK * s.number


def grown(s: Selection) -> Selection:
    """The same radius search with twice the room."""
    items, owners = (np.concatenate([a, np.empty_like(a)], axis=-1) for a in (s.items, s.owners))
    return s._replace(items=items, owners=owners)


@njit(cache=True, nogil=True)
def finish(s: Places, rows: NDArray[np.int64], distances: NDArray[np.int32]) -> None:
    """The nearest in (distance, row) order, by counting; the outputs are (queries, k). Where fewer than k are held,
    distances beyond all others fill the rest."""
    places = np.empty(s.bins + 1, dtype=np.int64)
    for q in range(rows.shape[0]):
        places[:] = 0
        items, held = s.items + 8 * s.capacity * q, number_at(s.size + 8 * q)
        for i in range(held):
            places[(number_at(items + 8 * i) & _DISTANCE) + 1] += 1
        for d in range(1, places.shape[0]):
            places[d] += places[d - 1]
        for i in range(held):
            item = number_at(items + 8 * i)
            place = places[item & _DISTANCE]
            places[item & _DISTANCE] = place + 1
            if place < rows.shape[1]:
                rows[q, place] = item >> _SHIFT
                distances[q, place] = item & _DISTANCE
        distances[q, held:] = s.bins


@njit(cache=True, nogil=True)
def merge_sorted(
    rows: NDArray[np.int64],
    distances: NDArray[np.int32],
    nearest: NDArray[np.int64],
    their_distances: NDArray[np.int32],
) -> None:
    """From (lists, queries, k) in (distance, row) order the k first of all lists, (queries, k)."""
    at = np.empty(rows.shape[0], dtype=np.int64)
    for q in range(nearest.shape[0]):
        at[:] = 0
        for place in range(nearest.shape[1]):
            best, distance, row = 0, np.int64(1) << 30, np.int64(0)
            for i in range(rows.shape[0]):
                if at[i] == rows.shape[2]:
                    continue
                d, r = np.int64(distances[i, q, at[i]]), rows[i, q, at[i]]
                if d < distance or (d == distance and r < row):
                    best, distance, row = i, d, r
            at[best] += 1
            nearest[q, place], their_distances[q, place] = row, distance


@njit(cache=True, nogil=True)
def order_within(
    owners: NDArray[np.int64],
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
