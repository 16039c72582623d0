"""The compiled scan over a run of codes, for one query, a few, or a batch.

Each kernel walks over rows [start, stop) of a database at an address (a mapped file as well as an array; one
compiled version serves both) and hands what is near to `selection.keep` in row order. `base` is the number of
row 0; `mask` is the address of one byte per row, 0 where the row does not count, or 0 where all do. The return
value is the row where to go on: `stop`, or earlier where a radius search needs more room first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.selection import crowded, keep
from kinhash.kernels.sliced import BLOCK, ENTRY, TABLE, butterflies, sliced_pair, sliced_table
from kinhash.kernels.vector import near_any, near_mask, prefetch, trailing_zeros, word_at

_STEP = 64  # codes whose exact mask is taken at once
_PLANE_BYTES = BLOCK // 8
_ONLY, _SHORT, _FIRST, _MIDDLE, _LAST = range(
    5
)  # the one word of a code, at most half of it used; of several


@njit(cache=True, nogil=True)
def aligned(words: int) -> NDArray[np.uint64]:
    """Scratch words at a multiple of 64 bytes."""
    raw = np.zeros(words + 8, dtype=np.uint64)
    skip = (-np.int64(raw.ctypes.data) % 64) // 8
    return raw[skip : skip + words]


@njit(cache=True, nogil=True, forceinline=True)
def distance_at(query: NDArray[np.uint64], address: int) -> int:
    """Hamming distance of a query to the code at an address."""
    total = np.int64(0)
    for w in range(query.shape[0]):
        total += popcount64(query[w] ^ word_at(address + 8 * w))
    return total


@njit(cache=True, nogil=True, forceinline=True)
def _byte(address: int) -> np.uint64:
    """The byte at an address, read as part of the aligned word around it."""
    inside = address & 7
    return (word_at(address - inside) >> np.uint64(8 * inside)) & np.uint64(255)


@njit(cache=True, nogil=True, forceinline=True)
def _offer(s: Any, q: int, address: int, mask: int, row: int, base: int) -> None:
    """Row `row` was found near query q: keep it if it counts and is still near enough."""
    if mask != 0 and _byte(mask + row) == np.uint64(0):
        return
    distance = distance_at(s.words[q], address + row * s.words.shape[1] * 8)
    if distance < s.accept[q]:
        keep(s, q, base + row, distance)


@njit(cache=True, nogil=True, forceinline=True)
def _fetch_ahead(address: int, size: int) -> None:
    """Ask for the next block while this one is worked on."""
    for line in range(0, size, 64):
        prefetch(address + line)


@njit(cache=True, nogil=True)
def column_block(address: int, width: int, count: int, columns: NDArray[np.uint64]) -> None:
    """Word w of up to 512 codes to columns[w]; the rest of a short block keeps what it held."""
    for w in range(width):
        out = columns[w]
        if width == 1:
            for i in range(count):
                out[i] = word_at(address + 8 * i)
        elif width == 2:
            for i in range(count):
                out[i] = word_at(address + 8 * w + 16 * i)
        elif width == 4:
            for i in range(count):
                out[i] = word_at(address + 8 * w + 32 * i)
        else:
            for i in range(count):
                out[i] = word_at(address + 8 * (w + width * i))


@njit(cache=True, nogil=True, forceinline=True)
def _walk_mask(
    s: Any, q: int, found: np.uint64, address: int, mask: int, row: int, stop: int, base: int
) -> None:
    """Offer the rows row + i of the bits i of `found`."""
    while found != np.uint64(0):
        at = row + trailing_zeros(found)
        if at < stop:
            _offer(s, q, address, mask, at, base)
        found &= found - np.uint64(1)


@njit(cache=True, nogil=True, forceinline=True)
def _near_one(at: int, stride: int, width: int, query: int, limit: int) -> int:
    """Is one of 128 codes near?"""
    if width == 1:
        return near_any(at, stride, 1, query, limit, 16, 1)
    return near_any(at, stride, width, query, limit, 8, 1) | near_any(
        at + 512, stride, width, query, limit, 8, 1
    )


@njit(cache=True, nogil=True, forceinline=True)
def _near_four(at: int, stride: int, width: int, query: int, limit: int) -> int:
    """Which of four queries have a near one among 64 codes?"""
    if width == 1:
        return near_any(at, stride, 1, query, limit, 8, 4)
    return near_any(at, stride, width, query, limit, 4, 4) | near_any(
        at + 256, stride, width, query, limit, 4, 4
    )


@njit(cache=True, nogil=True)
def scan_one(s: Any, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """One query (the first), memory bound: codes stream past once, nothing else is touched."""
    width = s.words.shape[1]
    query, limit = np.int64(s.words.ctypes.data), np.int64(s.accept.ctypes.data)
    buffer = aligned(width * BLOCK).reshape(width, BLOCK)
    columns, stride = np.int64(buffer.ctypes.data), np.int64(8 * BLOCK)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        if s.accept[0] == 0:
            break
        at = address + 8 * row
        if width > 1 or row + BLOCK > stop:
            column_block(address + 8 * width * row, width, min(BLOCK, stop - row), buffer)
            at = columns
        for j in range(0, BLOCK, 2 * _STEP):
            if _near_one(at + 8 * j, stride, width, query, limit) != 0:
                for i in range(j, j + 2 * _STEP, _STEP):
                    found = near_mask(at + 8 * i, stride, width, query, s.accept[0])
                    _walk_mask(s, 0, found, address, mask, row + i, stop, base)
    return stop


@njit(cache=True, nogil=True)
def scan_few(s: Any, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """Some queries, four at a time: every code loaded is compared with four."""
    width = s.words.shape[1]
    queries, limits = np.int64(s.words.ctypes.data), np.int64(s.accept.ctypes.data)
    buffer = aligned(width * BLOCK).reshape(width, BLOCK)
    columns, stride = np.int64(buffer.ctypes.data), np.int64(8 * BLOCK)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        at = address + 8 * row
        if width > 1 or row + BLOCK > stop:
            column_block(address + 8 * width * row, width, min(BLOCK, stop - row), buffer)
            at = columns
        _fetch_ahead(address + 8 * width * (row + BLOCK), 8 * width * BLOCK)
        for q in range(0, s.words.shape[0], 4):
            for j in range(0, BLOCK, _STEP):
                flags = _near_four(at + 8 * j, stride, width, queries + 8 * width * q, limits + 8 * q)
                while flags != 0:
                    i = q + trailing_zeros(np.uint64(flags))
                    flags &= flags - 1
                    found = near_mask(at + 8 * j, stride, width, queries + 8 * width * i, s.accept[i])
                    _walk_mask(s, i, found, address, mask, row + j, stop, base)
    return stop


@njit(cache=True, nogil=True)
def slice_block(address: int, planes: NDArray[np.uint64], table: NDArray[np.uint64], groups: int) -> None:
    """512 words at `address`: transpose them into planes, and make the table of every group."""
    plane_at, table_at = np.int64(planes.ctypes.data), np.int64(table.ctypes.data)
    for i in range(8):
        butterflies(address + 64 * i, plane_at + 64 * i, 8)
    for i in range(8):
        butterflies(plane_at + 512 * i, plane_at + 512 * i, 1)
    for g in range(groups):
        sliced_table(plane_at + 3 * _PLANE_BYTES * g, table_at + 8 * ENTRY * g)


@njit(cache=True, nogil=True, forceinline=True)
def sliced_near(table: int, query: int, stride: int, state: int, starts: int, near: int, part: int) -> int:
    """One word of two queries against the sliced block; `part` says which. The last word returns the flags."""
    if part == _ONLY:
        return sliced_pair(table, query, stride, starts, near, 22, True, True)
    if part == _SHORT:
        return sliced_pair(table, query, stride, starts, near, 11, True, True)
    if part == _LAST:
        return sliced_pair(table, query, stride, state, near, 22, False, True)
    if part == _FIRST:
        sliced_pair(table, query, stride, starts, state, 22, True, False)
    else:
        sliced_pair(table, query, stride, state, state, 22, False, False)
    return 0


@njit(cache=True, nogil=True, forceinline=True)
def _walk_sliced(
    s: Any, q: int, near: NDArray[np.uint64], address: int, mask: int, row: int, stop: int, base: int
) -> None:
    """Offer the near codes of a sliced block in row order: bit i of word l is code 8 i + l."""
    some = np.uint64(0)
    for lane in range(8):
        some |= near[lane]
    while some != np.uint64(0):
        i = trailing_zeros(some)
        for lane in range(8):
            if (near[lane] >> np.uint64(i)) & np.uint64(1) and row + 8 * i + lane < stop:
                _offer(s, q, address, mask, row + 8 * i + lane, base)
        some &= some - np.uint64(1)


@njit(cache=True, nogil=True)
def _part(w: int, width: int, bits: int) -> int:
    """Which word of a code word w is."""
    if width == 1:
        return _SHORT if bits <= 32 else _ONLY
    return _FIRST if w == 0 else _LAST if w == width - 1 else _MIDDLE


@njit(cache=True, nogil=True)
def scan_batch(s: Any, bits: int, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """Many queries over bit planes: 512 codes are sliced once, then every query adds up its table entries."""
    number, width = s.words.shape
    buffer = aligned(width * BLOCK).reshape(width, BLOCK)
    planes, table, near = aligned(66 * 8), aligned(TABLE // 8), aligned(16)
    state = aligned(number * 8 * 11 if width > 1 else 8)
    table_at, near_at = np.int64(table.ctypes.data), np.int64(near.ctypes.data)
    state_at, starts_at = np.int64(state.ctypes.data), np.int64(s.starts.ctypes.data)
    queries, start_bytes = np.int64(s.words.ctypes.data), np.int64(8 * s.starts.shape[1])
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        block = address + 8 * row
        if width > 1 or row + BLOCK > stop:
            column_block(address + 8 * width * row, width, min(BLOCK, stop - row), buffer)
            block = np.int64(buffer.ctypes.data)
        _fetch_ahead(address + 8 * width * (row + BLOCK), 8 * width * BLOCK)
        for w in range(width):
            part = _part(w, width, bits)
            slice_block(block + 8 * BLOCK * w, planes, table, 11 if part == _SHORT else 22)
            for q in range(0, number, 2):
                query = queries + 8 * (width * q + w)
                held, begin = state_at + 64 * 11 * q, starts_at + start_bytes * q
                flags = sliced_near(table_at, query, 8 * width, held, begin, near_at, part)
                if flags & 1 and s.accept[q] > 0:
                    _walk_sliced(s, q, near[:8], address, mask, row, stop, base)
                if flags & 2 and s.accept[q + 1] > 0:
                    _walk_sliced(s, q + 1, near[8:], address, mask, row, stop, base)
    return stop
