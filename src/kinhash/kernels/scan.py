"""The compiled scan over a run of codes for one query or a few; `scan_batch` does it for many.

Each kernel walks over rows [start, stop) of a database at an address (a mapped file as well as an array; one
compiled version serves both) and hands what is near to `selection.keep` in row order. `base` is the number of
row 0; `mask` is the address of one byte per row, 0 where the row does not count, or 0 where all do. The return
value is the row where to go on: `stop`, or earlier where a radius search needs more room first.

Codes of 1, 2, 4 and 8 words are read where they lie; other widths are copied into columns, a block at a time.
"""

from __future__ import annotations

from numba import njit

from kinhash.kernels.scan_walk import aligned, columns_of, fetch_ahead, offer_bits
from kinhash.kernels.selection import Places, crowded
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.vector import near_any, near_mask, number_at, prefetch, put, trailing_zeros

_STEP = 64  # codes whose exact mask is taken at once
_STRIDE = 8 * BLOCK
_AHEAD = 4096  # bytes; beyond a page, where the processor's own prefetching stops


@njit(cache=True, nogil=True, forceinline=True)
def _near_one(at: int, width: int, query: int, limit: int) -> int:
    """Is one of 64 codes near?"""
    if width == 1:
        return near_any(at, _STRIDE, 1, query, limit, 8, 1)
    if width == 2:
        return near_any(at, _STRIDE, 2, query, limit, 8, 1)
    if width == 4:
        return near_any(at, _STRIDE, 4, query, limit, 8, 1)
    if width == 8:
        return near_any(at, _STRIDE, 8, query, limit, 8, 1)
    return near_any(at, _STRIDE, width, query, limit, 8, 1)


@njit(cache=True, nogil=True, forceinline=True)
def _near_four(at: int, width: int, query: int, limit: int) -> int:
    """Which of four queries have a near one among 64 codes?"""
    if width == 1:
        return near_any(at, _STRIDE, 1, query, limit, 8, 4)
    if width == 2:
        return near_any(at, _STRIDE, 2, query, limit, 8, 4)
    if width == 4:
        return near_any(at, _STRIDE, 4, query, limit, 8, 4)
    if width == 8:
        return near_any(at, _STRIDE, 8, query, limit, 8, 4)
    return near_any(at, _STRIDE, width, query, limit, 8, 4)


@njit(cache=True, nogil=True)
def _near_bits(at: int, width: int, query: int, limit: int) -> int:
    """Which of 64 codes are near?"""
    if width == 1:
        return near_mask(at, _STRIDE, 1, query, limit)
    if width == 2:
        return near_mask(at, _STRIDE, 2, query, limit)
    if width == 4:
        return near_mask(at, _STRIDE, 4, query, limit)
    if width == 8:
        return near_mask(at, _STRIDE, 8, query, limit)
    return near_mask(at, _STRIDE, width, query, limit)


@njit(cache=True, nogil=True, forceinline=True)
def _in_place(width: int) -> bool:
    """Codes can be read as they are stored."""
    return width & (width - 1) == 0


@njit(cache=True, nogil=True, forceinline=True)
def _laid_out(address: int, width: int, count: int, buffer: int) -> int:
    """Where a block can be read: where it lies, or copied into the buffer where it is short or of an odd width."""
    if _in_place(width):
        if count == BLOCK:
            return address
        for i in range(width * count):
            put(buffer + 8 * i, number_at(address + 8 * i))
    else:
        columns_of(address, width, count, buffer)
    return buffer


@njit(cache=True, nogil=True)
def scan_one(s: Places, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """One query (the first), memory bound: codes stream past once, nothing else is touched."""
    width = s.width
    step = 8 * width if _in_place(width) else 8  # bytes from a code to the next
    scratch = aligned(width * BLOCK)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        if number_at(s.accept) == 0:
            break
        at = _laid_out(address + 8 * width * row, width, min(BLOCK, stop - row), scratch.ctypes.data)
        for j in range(0, BLOCK, _STEP):
            for line in range(0, step * _STEP, 64):
                prefetch(at + step * j + line + _AHEAD)
            if _near_one(at + step * j, width, s.queries, s.accept) != 0:
                found = _near_bits(at + step * j, width, s.queries, number_at(s.accept))
                offer_bits(s, 0, found, address, mask, row + j, stop, base)
    return stop


@njit(cache=True, nogil=True)
def scan_few(s: Places, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """Some queries, four at a time: every code loaded is compared with four."""
    width = s.width
    step = 8 * width if _in_place(width) else 8
    scratch = aligned(width * BLOCK)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        at = _laid_out(address + 8 * width * row, width, min(BLOCK, stop - row), scratch.ctypes.data)
        fetch_ahead(address + 8 * width * (row + BLOCK), 8 * width * BLOCK)
        for q in range(0, s.number, 4):
            for j in range(0, BLOCK, _STEP):
                flags = _near_four(at + step * j, width, s.queries + 8 * width * q, s.accept + 8 * q)
                while flags != 0:
                    i = q + trailing_zeros(flags)
                    flags &= flags - 1
                    query = s.queries + 8 * width * i
                    found = _near_bits(at + step * j, width, query, number_at(s.accept + 8 * i))
                    offer_bits(s, i, found, address, mask, row + j, stop, base)
    return stop
