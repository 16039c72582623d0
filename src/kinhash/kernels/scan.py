"""The compiled scan over a run of codes for one query or a few; `scan_batch` does it for many.

Each kernel walks over rows [start, stop) of a database at an address (a mapped file as well as an array; one
compiled version serves both) and hands what is near to `selection.keep` in row order. `base` is the number of
row 0; `mask` is the address of one byte per row, 0 where the row does not count, or 0 where all do. The return
value is the row where to go on: `stop`, or earlier where a radius search needs more room first.

One query reads codes of 1, 2, 4 and 8 words where they lie; otherwise codes of several words are copied into
columns, a block at a time.
"""

from __future__ import annotations

from numba import njit

from kinhash.kernels.scan_walk import (
    STRIDE,
    address_of,
    aligned,
    fetch_ahead,
    in_columns,
    nobody,
    offer,
    offer_bits,
)
from kinhash.kernels.selection import Places, crowded
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.vector import number_at, prefetch, put, trailing_zeros
from kinhash.kernels.vector_near import near_any, near_mask

_STEP = 64  # codes whose exact mask is taken at once
_AHEAD = 4096  # bytes; beyond a page, where the processor's own prefetching stops


@njit(cache=True, nogil=True, forceinline=True)
def _near_one(at: int, width: int, query: int, limit: int) -> int:
    """Is one of 64 codes near? In rows, but for odd widths."""
    if width == 1:
        return near_any(at, 0, 1, query, limit, 8, 1)
    if width == 2:
        return near_any(at, 0, 2, query, limit, 8, 1)
    if width == 4:
        return near_any(at, 0, 4, query, limit, 8, 1)
    if width == 8:
        return near_any(at, 0, 8, query, limit, 8, 1)
    return near_any(at, STRIDE, width, query, limit, 8, 1)


@njit(cache=True, nogil=True)
def _near_four(at: int, width: int, query: int, limit: int) -> int:
    """Four bits for every 64 of 512 codes in columns: which of four queries have a near one among them?

    A function of its own, never inlined: inside the walk the compiler ran out of registers and lost 40 %.
    """
    flags = 0
    if width == 1:
        for j in range(0, BLOCK, _STEP):
            flags |= near_any(at + 8 * j, STRIDE, 1, query, limit, 8, 4) << (j // 16)
    elif width == 2:
        for j in range(0, BLOCK, _STEP):
            flags |= near_any(at + 8 * j, STRIDE, 2, query, limit, 8, 4) << (j // 16)
    elif width == 4:
        for j in range(0, BLOCK, _STEP):
            flags |= near_any(at + 8 * j, STRIDE, 4, query, limit, 8, 4) << (j // 16)
    else:
        for j in range(0, BLOCK, _STEP):
            flags |= near_any(at + 8 * j, STRIDE, width, query, limit, 8, 4) << (j // 16)
    return flags


@njit(cache=True, nogil=True)
def scan_one(s: Places, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """One query (the first), memory bound: codes stream past once, nothing else is touched."""
    width = s.width
    rows = width & (width - 1) == 0
    step = 8 * width if rows else 8  # bytes from a code to the next
    scratch = aligned(width * BLOCK)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        if nobody(mask, row, stop):
            continue
        if number_at(s.accept) == 0:
            break
        at = address + 8 * width * row
        if not rows:
            at = in_columns(at, width, min(BLOCK, stop - row), address_of(scratch))
        elif row + BLOCK > stop:
            at = _copied(at, width * (stop - row), address_of(scratch))
        for j in range(0, BLOCK, _STEP):
            for line in range(0, step * _STEP, 64):
                prefetch(at + step * j + line + _AHEAD)
            if _near_one(at + step * j, width, s.queries, s.accept) != 0:
                for i in range(row + j, min(row + j + _STEP, stop)):
                    offer(s, 0, address, mask, i, base)
    return stop


@njit(cache=True, nogil=True)
def _copied(address: int, words: int, buffer: int) -> int:
    """A short block where a whole one may be read."""
    for i in range(words):
        put(buffer + 8 * i, number_at(address + 8 * i))
    return buffer


@njit(cache=True, nogil=True)
def scan_few(s: Places, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """Some queries, four at a time: every code loaded is compared with four."""
    width = s.width
    scratch = aligned(width * BLOCK)
    fetched = -(-width * STRIDE * 4 // (s.number * 64)) * 64  # bytes of the next block, each time
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        if nobody(mask, row, stop):
            continue
        at = in_columns(address + 8 * width * row, width, min(BLOCK, stop - row), address_of(scratch))
        ahead = address + 8 * width * (row + BLOCK)
        for q in range(0, s.number, 4):
            fetch_ahead(ahead, fetched)
            ahead += fetched
            flags = _near_four(at, width, s.queries + 8 * width * q, s.accept + 8 * q)
            while flags != 0:
                bit = trailing_zeros(flags)
                flags &= flags - 1
                i, j = q + (bit & 3), (bit >> 2) * _STEP
                limit = number_at(s.accept + 8 * i)
                found = near_mask(at + 8 * j, STRIDE, width, s.queries + 8 * width * i, limit)
                offer_bits(s, i, found, address, mask, row + j, stop, base)
    return stop
