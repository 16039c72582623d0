"""Searching the tables of multi-index hashing, one query after the other.

Round t = s * tables + j probes the buckets of table j whose keys differ from the query's in exactly s bits. A code
not met up to round t differs in more than s bits from the query in tables 0..j and in s or more in the others, so it
lies beyond distance t: a search is complete as soon as t reaches the k-th distance, ties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.multi_best import SHIFT
from kinhash.kernels.multi_build import packed
from kinhash.kernels.multi_probe import (
    GROUP,
    HELD,
    SCRATCH,
    Round,
    ask_for_bounds,
    ask_for_entries,
    exhausted,
    hold,
    near_entries,
    read_held,
)
from kinhash.kernels.multi_stop import last_round, too_dear
from kinhash.kernels.multi_vector import SIGNATURES, half_at, signed
from kinhash.kernels.vector import number_at, prefetch

PROBES, ENTRIES, CODES, ROUNDS, FELL_BACK, FOUND = range(6)  # what is counted per query
COUNTED = 6
_TOGETHER = 8  # tables
_LINE = 64  # bytes
_ASKED = 0.25  # of the wait for a group of probes, where its bucket was asked for long before
_DONE, _DEAR, _FULL = range(3)


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
    """What rounds cost, in nanoseconds, and what is expected of them; see `index/multi_index_prices.py`."""

    group: float  # waiting for memory, once per group of probes
    probe: float
    entry: float
    code: float
    scan: float  # the same query by the scan
    free: float  # spent without asking whether the scan would be cheaper
    rounds: NDArray[np.float64]  # (rounds + 1,) expected cost of all rounds before each
    met: NDArray[
        np.float64
    ]  # (rounds + 1, bits + 2) share of the codes at each distance met before each round


@njit(cache=True, nogil=True)
def _patterns(length: int, weight: int) -> int:
    """How many keys of `length` bits differ from one in `weight` bits."""
    if weight > length:
        return 0
    number = signed(1)
    for i in range(weight):
        number = number * (length - i) // (i + 1)
    return number


@njit(cache=True, nogil=True)
def _start_round(
    t: Any,
    query: NDArray[np.uint64],
    best: NDArray[np.int64],
    found: NDArray[np.int64],
    scratch: NDArray[np.int64],
    done: int,
) -> Any:
    tables, width = t.masks.shape
    table = done % tables
    both = packed(query.ctypes.data, width, t.lookups[table])
    return Round(
        signed(done // tables),
        signed(table),
        t.lengths[table],
        signed(both & np.uint64(0xFFFFFFFF)),
        signed(both >> np.uint64(32)),
        signed(t.ends.ctypes.data) + 4 * t.starts[table],
        signed(t.ids.ctypes.data) + 4 * t.ids.shape[1] * table,
        (signed(t.signatures.ctypes.data) + 4 * t.signatures.shape[1] * table)
        * signed(t.signatures.shape[1] > 0),
        signed(t.words.ctypes.data),
        signed(width),
        signed(query.ctypes.data),
        signed(t.masks.ctypes.data),
        signed(tables),
        signed(best.ctypes.data),
        signed(best.shape[0]),
        signed(found.ctypes.data) * signed(found.shape[0] > 0),
        signed(scratch.ctypes.data),
    )


@njit(cache=True, nogil=True)
def _ask_for_own_buckets(
    t: Any,
    p: Any,
    query: NDArray[np.uint64],
    best: NDArray[np.int64],
    found: NDArray[np.int64],
    scratch: NDArray[np.int64],
) -> int:
    """Ask for the query's own bucket in the first tables at once: rounds of one probe each would wait for each.

    In no more tables than it may probe for free: the scan is likely to answer before the others. Returns their number.
    """
    tables = min(t.masks.shape[0], _TOGETHER)
    if p.free < tables * p.group:
        tables = signed(p.free / p.group) + 1
    for j in range(tables):
        r = _start_round(t, query, best, found, scratch, j)
        scratch[j] = r.ends + 4 * r.key
        prefetch(scratch[j])
    for j in range(tables):
        low = half_at(scratch[j])
        _ask_for_lines(signed(t.ids.ctypes.data) + 4 * (t.ids.shape[1] * j + low))
        if t.signatures.shape[1] > 0:
            _ask_for_lines(signed(t.signatures.ctypes.data) + 4 * (t.signatures.shape[1] * j + low))
    return tables


@njit(cache=True, nogil=True, forceinline=True)
def _ask_for_lines(address: int) -> None:
    prefetch(address)
    prefetch(address + _LINE)


@njit(cache=True, nogil=True)
def _search(
    t: Any,
    p: Any,
    query: NDArray[np.uint64],
    best: NDArray[np.int64],
    found: NDArray[np.int64],
    counted: NDArray[np.int64],
    scratch: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """All rounds of one query; the result lies in `best` or `found`."""
    done, number = 0, signed(0)
    final = found.shape[0] > 0
    worst = signed(counts.shape[0] - 1) << SHIFT
    asked = _ask_for_own_buckets(t, p, query, best, found, scratch)
    spent = p.group  # the wait of all these buckets
    while done <= (best[0] >> SHIFT) - signed(final):  # afterwards everything up to distance done - 1 was met
        r = _start_round(t, query, best, found, scratch, done)
        needed = max(done, last_round(p, best, found, done, counts))
        left = patterns = _patterns(r.length, r.weight)
        pattern = (signed(1) << r.weight) - 1
        while left > 0:
            total = min(left, GROUP)
            pattern = ask_for_bounds(r, pattern, total)
            entries = ask_for_entries(r, total)
            left -= total
            spent += (p.group if done >= asked else _ASKED * p.group) + total * p.probe + entries * p.entry
            kept = signed(
                0
            )  # before k are found, nothing spares the look at a code; to keep one costs as much again
            certain = 0.0
            if not final and best[0] >= worst:
                kept = min(entries, signed(best.shape[0]))
                certain = (kept + min(entries, max(kept, HELD))) * p.code
            if too_dear(p, spent + certain, done, 1 - left / patterns, needed):
                return _DEAR
            counted[PROBES] += total
            counted[ENTRIES] += entries
            held = compared = signed(0)
            for at in range(r.scratch, r.scratch + 16 * total, 16):
                high = number_at(at + 8)
                for place in range(number_at(at), high, SIGNATURES):
                    if exhausted(r, place):
                        break
                    held = hold(r, near_entries(r, place, high), place, held)
                    if held >= HELD:
                        if final and number + 2 * HELD > found.shape[0]:
                            return _FULL
                        more, number = read_held(r, held, number)
                        compared, held = compared + more, signed(0)
                        # a bucket of many near codes says so while it is read
                        if final and too_dear(
                            p, spent + compared * p.code, done, 1 - left / patterns, needed
                        ):
                            return _DEAR
            if final and number + 2 * HELD > found.shape[0]:
                return _FULL
            more, number = read_held(r, held, number)
            compared += more
            counted[CODES] += compared
            spent += (compared + kept) * p.code
        done += 1
        counted[ROUNDS] = done
    counted[FOUND] = number
    return _DONE


@njit(cache=True, nogil=True)
def search_nearest(
    t: Any, p: Any, queries: NDArray[np.uint64], best: NDArray[np.int64], counted: NDArray[np.int64]
) -> None:
    """The k nearest of every query, as a heap in best[q]; counted[q, FELL_BACK] is 1 where the scan must answer."""
    found = np.empty(0, dtype=np.int64)
    counts = np.zeros(p.met.shape[1], dtype=np.int64)
    scratch = np.empty(SCRATCH, dtype=np.int64)
    best[:] = signed(p.met.shape[1] - 1) << SHIFT
    for i in range(queries.shape[0]):
        outcome = _search(t, p, queries[i], best[i], found, counted[i], scratch, counts)
        counted[i, FELL_BACK] = outcome == _DEAR


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
    limit = np.full(1, signed(radius + 1) << SHIFT)
    counts = np.zeros(1, dtype=np.int64)
    scratch = np.empty(SCRATCH, dtype=np.int64)
    used = signed(0)
    for i in range(first, queries.shape[0]):
        if found.shape[0] - used < 4 * HELD:
            return i
        counted[i] = 0
        outcome = _search(t, p, queries[i], limit, found[used:], counted[i], scratch, counts)
        if outcome == _FULL:
            return i
        counted[i, FELL_BACK] = outcome == _DEAR
        if outcome == _DONE:
            used += counted[i, FOUND]
        ends[i] = used
    return queries.shape[0]
