"""A group of probes of one table: bounds of buckets, then signatures, then codes, each asked for one step ahead.

Memory is waited for once per group and not once per probe. Everything here works on addresses: arrays would be
counted as used and unused at every call, which costs more than the work itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from kinhash.kernels.bits import popcount64
from kinhash.kernels.multi_best import SHIFT, replace_worst
from kinhash.kernels.multi_vector import SIGNATURES, half_at, near_signatures, signed
from kinhash.kernels.vector import number_at, prefetch, put, trailing_zeros, word_at

GROUP = 128  # probes
HELD = 128  # entries whose codes are read together
_LINE = 64
_AHEAD = 128  # entries of a bucket that are asked for ahead
SCRATCH = 2 * GROUP + 2 * (HELD + SIGNATURES)  # words


class Round(NamedTuple):
    """One round of one query; all are addresses or numbers."""

    weight: int  # bits in which the keys probed differ from the query's
    table: int
    length: int  # bits of a key
    key: int  # of the query
    own: int  # signature of the query
    ends: int  # of this table
    ids: int
    signatures: int  # 0 where there are none
    words: int  # all codes
    width: int
    query: int
    masks: int  # of all tables
    tables: int
    best: int  # k pairs; for a search within a radius one, the limit
    k: int
    found: int  # 0, or where a search within a radius puts what it finds
    scratch: int


@njit(cache=True, nogil=True, forceinline=True)
def ask_for_bounds(r: Any, pattern: int, total: int) -> int:
    """Ask for the bounds of the next buckets; the pattern that follows them."""
    at = r.scratch
    for _ in range(total):
        bounds = r.ends + 4 * (r.key ^ pattern)
        prefetch(bounds)
        put(at, bounds)
        at += 16
        if r.weight > 0:  # the next number with as many bits
            lowest = pattern & -pattern
            ripple = pattern + lowest
            pattern = ripple | (((ripple ^ pattern) >> 2) >> trailing_zeros(np.uint64(lowest)))
    return pattern


@njit(cache=True, nogil=True, forceinline=True)
def ask_for_entries(r: Any, total: int) -> int:
    """Read the bounds, ask for the beginning of what lies between; the number of entries."""
    start = r.ids if r.signatures == 0 else r.signatures
    entries = signed(0)
    for at in range(r.scratch, r.scratch + 16 * total, 16):
        bounds = number_at(at)
        low, high = half_at(bounds), half_at(bounds + 4)
        put(at, low)
        put(at + 8, high)
        entries += high - low
        if low < high:
            line = (start + 4 * low) & -_LINE
            last = start + 4 * min(high, low + _AHEAD)
            while line < last:
                prefetch(line)
                line += _LINE
    return entries


@njit(cache=True, nogil=True, forceinline=True)
def _is_first(r: Any, code: int) -> bool:
    """Whether this table in this round is the first that meets the code at an address."""
    # while own buckets are read, tables that come later have not met anything
    for i in range(r.tables if r.weight > 0 else r.table):
        distance = signed(0)
        for w in range(r.width):
            differ = word_at(r.query + 8 * w) ^ word_at(code + 8 * w)
            distance += popcount64(differ & word_at(r.masks + 8 * (r.width * i + w)))
        if distance < r.weight or (distance == r.weight and i < r.table):
            return False
    return True


@njit(cache=True, nogil=True)
def read_held(r: Any, held: int, found: int) -> tuple[int, int]:
    """Compare the codes of all entries held, keep what is near and new; how many were compared, how many found."""
    places = r.scratch + 16 * GROUP
    number = signed(0)
    for i in range(held):
        bound = number_at(places + 16 * i + 8)
        pair = (bound << SHIFT) + half_at(r.ids + 4 * number_at(places + 16 * i))
        if pair < number_at(r.best):
            put(places + 16 * number, pair)
            number += 1
            prefetch(r.words + 8 * r.width * (pair & 0xFFFFFFFF))
    for i in range(number):
        row = number_at(places + 16 * i) & 0xFFFFFFFF
        code = r.words + 8 * r.width * row
        distance = signed(0)
        for w in range(r.width):
            distance += popcount64(word_at(r.query + 8 * w) ^ word_at(code + 8 * w))
        pair = (distance << SHIFT) + row
        if pair < number_at(r.best) and _is_first(r, code):
            if r.found == 0:
                replace_worst(r.best, r.k, pair)
            else:
                put(r.found + 8 * found, pair)
                found += 1
    return number, found


@njit(cache=True, nogil=True, forceinline=True)
def exhausted(r: Any, place: int) -> bool:
    """Whether nothing from here to the end of a bucket can be near: numbers ascend in it."""
    worst = number_at(r.best)
    return worst >> SHIFT <= r.weight and (r.weight << SHIFT) + half_at(r.ids + 4 * place) >= worst


@njit(cache=True, nogil=True, forceinline=True)
def near_entries(r: Any, place: int, high: int) -> np.uint64:
    """Which of the next 16 entries of a bucket may be near."""
    near = np.uint64((1 << SIGNATURES) - 1)
    if r.signatures != 0:
        near = near_signatures(r.signatures + 4 * place, r.own, (number_at(r.best) >> SHIFT) - r.weight)
    if high - place < SIGNATURES:
        near &= (np.uint64(1) << np.uint64(high - place)) - np.uint64(1)
    return near


@njit(cache=True, nogil=True, forceinline=True)
def hold(r: Any, near: np.uint64, place: int, held: int) -> int:
    """Ask for the numbers of the entries place + i of the bits i of `near`, with a lower bound of their distance."""
    at = r.scratch + 16 * (GROUP + held)
    while near != np.uint64(0):
        entry = place + trailing_zeros(near)
        near &= near - np.uint64(1)
        bound = r.weight
        if r.signatures != 0:
            bound += popcount64(np.uint64(half_at(r.signatures + 4 * entry) ^ r.own))
        prefetch(r.ids + 4 * entry)
        put(at, entry)
        put(at + 8, bound)
        at += 16
        held += 1
    return held
