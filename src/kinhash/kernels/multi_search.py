"""Searching the tables of multi-index hashing, one query after the other.

Round t = s * tables + j probes the buckets of table j whose keys differ from the query's in exactly s bits. A code
not met up to round t differs in more than s bits from the query in tables 0..j and in s or more in the others, so it
lies beyond distance t: a search is complete as soon as t reaches the k-th distance, ties included.

A round works on groups of probes: bounds of the buckets, then signatures, then codes, each asked for one step
ahead, so that memory is waited for once per group and not once per probe.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.multi_best import SHIFT, count_best, replace_worst
from kinhash.kernels.multi_build import packed
from kinhash.kernels.multi_vector import SIGNATURES, half_at, near_signatures
from kinhash.kernels.vector import prefetch, trailing_zeros, word_at

_GROUP = 128  # probes
_HELD = 512  # entries whose codes are read together
_LINE = 64
PROBES, ENTRIES, CODES, ROUNDS, FELL_BACK = range(5)  # what is counted per query
COUNTED = 5


class Tables(NamedTuple):
    """What `multi_build` made; the arrays of all tables lie one after the other."""

    words: NDArray[np.uint64]  # (n, width) the codes themselves
    lookups: NDArray[np.uint64]  # (tables, 8 * width, 256)
    masks: NDArray[np.uint64]  # (tables, width) the bits of every key
    lengths: NDArray[np.int64]  # (tables,) how many they are
    starts: NDArray[np.int64]  # (tables,) where the bounds of each table begin
    ends: NDArray[np.uint32]
    ids: NDArray[np.uint32]  # (tables, n)
    signatures: NDArray[np.uint32]  # (tables, n + 16), or (tables, 0)


class Prices(NamedTuple):
    """What rounds cost, in nanoseconds, and what is expected of them; see `index/multi_index_plan.py`."""

    probe: float
    entry: float
    code: float
    scan: float  # the same query by the scan
    free: float  # spent without asking whether the scan would be cheaper
    rounds: NDArray[np.float64]  # (rounds + 1,) expected cost of all rounds before each
    met: NDArray[
        np.float64
    ]  # (rounds + 1, bits + 2) share of the codes at each distance met before each round


class Query(NamedTuple):
    """One search under way."""

    word: NDArray[np.uint64]
    packed: NDArray[np.uint64]  # (tables,) key and signature
    best: NDArray[np.int64]  # k pairs; for a search within a radius one pair, the limit
    found: NDArray[np.int64]  # pairs found within a radius; empty for the k nearest
    counted: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    held: NDArray[np.int64]  # entries of the current table that may be near, as places
    bounds: NDArray[np.int64]  # a lower bound of their distance; later pairs
    state: NDArray[np.int64]  # how many are held, how many were found


_HELD_NOW, _FOUND_NOW = 0, 1


@njit(cache=True, nogil=True)
def _new_query(t: Any, best: Any, found: Any) -> Any:
    return Query(
        np.zeros(t.words.shape[1], dtype=np.uint64),
        np.zeros(t.lengths.shape[0], dtype=np.uint64),
        best,
        found,
        np.zeros(COUNTED, dtype=np.int64),
        np.zeros(_GROUP, dtype=np.int64),
        np.zeros(_GROUP, dtype=np.int64),
        np.zeros(_HELD + SIGNATURES, dtype=np.int64),
        np.zeros(_HELD + SIGNATURES, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )


@njit(cache=True, nogil=True, forceinline=True)
def _is_first(t: Any, q: Any, at: int, weight: int, table: int) -> bool:
    """Whether this table in this round is the first that meets the code at an address."""
    width = t.words.shape[1]
    for i in range(t.lengths.shape[0]):
        distance = 0
        for w in range(width):
            distance += popcount64((q.word[w] ^ word_at(at + 8 * w)) & t.masks[i, w])
        if distance < weight or (distance == weight and i < table):
            return False
    return True


@njit(cache=True, nogil=True)
def _read_held(t: Any, q: Any, weight: int, table: int) -> None:
    """Compare the codes of all entries held, and keep what is near and new."""
    width = t.words.shape[1]
    ids, words = np.int64(t.ids[table].ctypes.data), np.int64(t.words.ctypes.data)
    number = 0
    for i in range(q.state[_HELD_NOW]):
        pair = (q.bounds[i] << SHIFT) + half_at(ids + 4 * q.held[i])
        if pair < q.best[0]:
            q.bounds[number] = pair
            number += 1
            prefetch(words + 8 * width * (pair & 0xFFFFFFFF))
    q.state[_HELD_NOW] = 0
    q.counted[CODES] += number
    for i in range(number):
        row = q.bounds[i] & 0xFFFFFFFF
        at = words + 8 * width * row
        distance = np.int64(0)
        for w in range(width):
            distance += popcount64(q.word[w] ^ word_at(at + 8 * w))
        pair = (distance << SHIFT) + row
        if pair < q.best[0] and _is_first(t, q, at, weight, table):
            if q.found.shape[0] == 0:
                replace_worst(q.best, pair)
            else:
                q.found[q.state[_FOUND_NOW]] = pair
                q.state[_FOUND_NOW] += 1


@njit(cache=True, nogil=True, forceinline=True)
def _hold(q: Any, ids: int, place: int, bound: int) -> None:
    at = q.state[_HELD_NOW]
    q.held[at] = place
    q.bounds[at] = bound
    q.state[_HELD_NOW] = at + 1
    prefetch(ids + 4 * place)


@njit(cache=True, nogil=True, forceinline=True)
def _read_bucket(t: Any, q: Any, low: int, high: int, weight: int, table: int) -> bool:
    """Hold the entries of one bucket whose signatures are near. False: no room for what a radius search finds."""
    ids, signatures = np.int64(t.ids[table].ctypes.data), np.int64(t.signatures[table].ctypes.data)
    own = np.int64(q.packed[table] >> np.uint64(32))
    for place in range(low, high, SIGNATURES):
        limit = (q.best[0] >> SHIFT) - weight
        if limit <= 0 and (weight << SHIFT) + half_at(ids + 4 * place) >= q.best[0]:
            return True  # numbers ascend: nothing later in this bucket can be nearer
        near = np.uint64(0xFFFF)
        if t.signatures.shape[1] > 0:
            near = near_signatures(signatures + 4 * place, own, limit)
        if high - place < SIGNATURES:
            near &= (np.uint64(1) << np.uint64(high - place)) - np.uint64(1)
        while near != np.uint64(0):
            i = trailing_zeros(near)
            near &= near - np.uint64(1)
            bound = weight
            if t.signatures.shape[1] > 0:
                bound += popcount64(np.uint64(half_at(signatures + 4 * (place + i)) ^ own))
            _hold(q, ids, place + i, bound)
        if q.state[_HELD_NOW] >= _HELD:
            if q.found.shape[0] > 0 and q.state[_FOUND_NOW] + 2 * _HELD > q.found.shape[0]:
                return False
            _read_held(t, q, weight, table)
    return True


@njit(cache=True, nogil=True, forceinline=True)
def _ask_for_bounds(t: Any, q: Any, table: int, key: int, pattern: int, weight: int, total: int) -> int:
    """Ask for the bounds of the next group of buckets; the pattern where the following group begins, or -1."""
    bounds = np.int64(t.ends.ctypes.data) + 4 * t.starts[table]
    end = np.int64(1) << t.lengths[table]
    for i in range(total):
        at = bounds + 4 * (key ^ pattern)
        q.lows[i] = at
        prefetch(at)
        if weight == 0:
            return -1
        lowest = pattern & -pattern  # the next pattern with as many bits
        ripple = pattern + lowest
        pattern = ripple | (((ripple ^ pattern) >> 2) >> trailing_zeros(np.uint64(lowest)))
    return pattern if pattern < end else -1


@njit(cache=True, nogil=True, forceinline=True)
def _ask_for_entries(t: Any, q: Any, table: int, total: int) -> int:
    """Read the bounds of a group, ask for the beginning of what lies between; the number of entries."""
    ids, signatures = np.int64(t.ids[table].ctypes.data), np.int64(t.signatures[table].ctypes.data)
    start = ids if t.signatures.shape[1] == 0 else signatures
    entries = np.int64(0)
    for i in range(total):
        low, high = half_at(q.lows[i]), half_at(q.lows[i] + 4)
        q.lows[i], q.highs[i] = low, high
        entries += high - low
        if low < high:
            last = start + 4 * min(high - 1, low + 127)
            at = start + 4 * low
            while at < last:
                prefetch(at)
                at += _LINE
            prefetch(last)
    return entries


@njit(cache=True, nogil=True)
def _patterns(length: int, weight: int) -> int:
    """How many keys of `length` bits differ from one in `weight` bits."""
    if weight > length:
        return 0
    number = np.int64(1)
    for i in range(weight):
        number = number * (length - i) // (i + 1)
    return number


@njit(cache=True, nogil=True, forceinline=True)
def _too_dear(p: Any, q: Any, spent: float, expected: float, needed: int) -> bool:
    """Whether the scan is cheaper: what is still needed, at the price that rounds have had for this query so far."""
    if spent <= p.free:
        return False
    return needed >= p.rounds.shape[0] - 1 or spent * max(1.0, p.rounds[needed + 1] / expected) > p.scan


@njit(cache=True, nogil=True)
def _last_round(p: Any, q: Any, done: int, counts: NDArray[np.int64]) -> int:
    """The round after which the search is likely to be complete: where k codes are expected, from those met."""
    if q.found.shape[0] > 0:
        return (q.best[0] >> SHIFT) - 1
    count_best(q.best, counts)
    expected = 0.0
    for distance in range(counts.shape[0] - 1):
        if counts[distance] > 0:
            expected += counts[distance] / p.met[done, distance]
        if expected >= q.best.shape[0]:
            return distance
    return counts.shape[0] - 2


_DONE, _DEAR, _FULL = 0, 1, 2


@njit(cache=True, nogil=True)
def _search(t: Any, p: Any, q: Any, counts: NDArray[np.int64]) -> int:
    """All rounds of one query; the result lies in `best` or `found`."""
    tables = t.lengths.shape[0]
    width = t.words.shape[1]
    word = np.int64(q.word.ctypes.data)
    for j in range(tables):
        q.packed[j] = packed(word, width, t.lookups[j])
    q.counted[:] = 0
    q.state[:] = 0
    spent, done = 0.0, 0
    final = q.found.shape[0] > 0
    while True:
        limit = (q.best[0] >> SHIFT) - 1 if final else q.best[0] >> SHIFT
        if done > limit:
            return _DONE  # every code up to distance done - 1 was met
        weight, table = done // tables, done % tables
        patterns = _patterns(t.lengths[table], weight)
        needed = max(done, _last_round(p, q, done, counts))
        left, pattern = patterns, (np.int64(1) << weight) - 1
        key = np.int64(q.packed[table] & np.uint64(0xFFFFFFFF))
        while left > 0:
            total = min(left, _GROUP)
            pattern = _ask_for_bounds(t, q, table, key, pattern, weight, total)
            entries = _ask_for_entries(t, q, table, total)
            spent += total * p.probe + entries * p.entry
            share = (patterns - left + total) / patterns
            if done >= p.rounds.shape[0] - 1:
                return _DEAR
            expected = p.rounds[done] + share * (p.rounds[done + 1] - p.rounds[done])
            if _too_dear(p, q, spent, expected, needed):
                return _DEAR
            left -= total
            q.counted[PROBES] += total
            q.counted[ENTRIES] += entries
            before = q.counted[CODES]
            for i in range(total):
                if q.lows[i] < q.highs[i]:
                    if not _read_bucket(t, q, q.lows[i], q.highs[i], weight, table):
                        return _FULL
            if final and q.state[_FOUND_NOW] + 2 * _HELD > q.found.shape[0]:
                return _FULL
            _read_held(t, q, weight, table)
            spent += (q.counted[CODES] - before) * p.code
        done += 1
        q.counted[ROUNDS] = done


@njit(cache=True, nogil=True)
def search_nearest(
    t: Any, p: Any, queries: NDArray[np.uint64], best: NDArray[np.int64], counted: NDArray[np.int64]
) -> None:
    """The k nearest of every query, as a heap in best[q]; counted[q, FELL_BACK] is 1 where the scan must answer."""
    found = np.empty(0, dtype=np.int64)
    counts = np.zeros(p.met.shape[1], dtype=np.int64)
    q = _new_query(t, best[0], found)
    for i in range(queries.shape[0]):
        now = Query(
            queries[i], q.packed, best[i], found, counted[i], q.lows, q.highs, q.held, q.bounds, q.state
        )
        best[i, :] = np.int64(p.met.shape[1] - 1) << SHIFT
        if _search(t, p, now, counts) == _DEAR:
            counted[i, FELL_BACK] = 1


@njit(cache=True, nogil=True)
def search_within(
    t: Any,
    p: Any,
    queries: NDArray[np.uint64],
    radius: int,
    first: int,
    found: NDArray[np.int64],
    ends: NDArray[np.int64],
    counted: NDArray[np.int64],
) -> int:
    """Everything within a radius of the queries from `first` on, as pairs; ends[q] is where those of q end.

    Returns the query at which `found` had no more room, or the number of queries.
    """
    limit = np.full(1, np.int64(radius + 1) << SHIFT)
    counts = np.zeros(p.met.shape[1], dtype=np.int64)
    q = _new_query(t, limit, found)
    used = np.int64(0)
    for i in range(first, queries.shape[0]):
        if found.shape[0] - used < 4 * _HELD:
            return i
        now = Query(
            queries[i], q.packed, limit, found[used:], counted[i], q.lows, q.highs, q.held, q.bounds, q.state
        )
        outcome = _search(t, p, now, counts)
        if outcome == _FULL:
            return i
        if outcome == _DEAR:
            counted[i, FELL_BACK] = 1
        else:
            used += q.state[_FOUND_NOW]
        ends[i] = used
    return queries.shape[0]
