"""The compiled scan for many queries: 512 codes become bit planes once, then every query adds up its table entries.

Arguments and return value are those of the kernels in `scan`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit
from numba.core.registry import cpu_target

from kinhash.kernels.scan_walk import STRIDE, address_of, aligned, fetch_ahead, in_columns, nobody, offer
from kinhash.kernels.selection import Places, crowded
from kinhash.kernels.sliced import BLOCK, ENTRY, TABLE, butterflies, sliced_pair, sliced_table
from kinhash.kernels.vector import number_at, trailing_zeros, word_at

_PLANE_BYTES = BLOCK // 8
# the one word of a code, at most half of it used; of several
_ONLY, _SHORT, _FIRST, _MIDDLE, _LAST = range(5)


def pays(queries: int, bits: int) -> bool:
    """Slicing blocks takes less time than counting bits query by query; measured."""
    if not _counts_in_vectors():
        return queries >= 8
    return queries >= (24 if bits <= 32 else 48 if bits <= 64 else 160)


@cache
def _counts_in_vectors() -> bool:
    """The processor that Numba compiles for counts the bits of whole vectors (AVX-512 VPOPCNTDQ)."""
    features: str = cpu_target.target_context.codegen()._get_host_cpu_features()
    return "+avx512vpopcntdq" in features


@njit(cache=True, nogil=True)
def _slice_block(address: int, planes: int, table: int, groups: int) -> None:
    """512 words at `address`: transpose them into planes, and make the table of every group."""
    for i in range(8):
        butterflies(address + 64 * i, planes + 64 * i, 8)
    done = 0
    for i in range(8):  # eight planes are finished at a time: tables are stored while the next are computed
        butterflies(planes + 512 * i, planes + 512 * i, 1)
        while done < groups and (3 * done + 3 <= 8 * (i + 1) or i == 7):
            sliced_table(planes + 3 * _PLANE_BYTES * done, table + 8 * ENTRY * done)
            done += 1


@njit(cache=True, nogil=True, forceinline=True)
def _add_word(table: int, query: int, stride: int, state: int, starts: int, near: int, part: int) -> int:
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


@njit(cache=True, nogil=True)
def _offer_sliced(
    s: Places, q: int, near: int, address: int, mask: int, row: int, stop: int, base: int
) -> None:
    """Offer the near codes of a sliced block in row order: bit i of word l is code 8 i + l."""
    if number_at(s.accept + 8 * q) == 0:
        return
    some = np.uint64(0)
    for lane in range(8):
        some |= word_at(near + 8 * lane)
    while some != np.uint64(0):
        i = trailing_zeros(some)
        for lane in range(8):
            at = row + 8 * i + lane
            if (number_at(near + 8 * lane) >> i) & 1 and at < stop:
                offer(s, q, address, mask, at, base)
        some &= some - np.uint64(1)


@njit(cache=True, nogil=True)
def _part(w: int, width: int, bits: int) -> int:
    """Which word of a code word w is."""
    if width == 1:
        return _SHORT if bits <= 32 else _ONLY
    return _FIRST if w == 0 else _LAST if w == width - 1 else _MIDDLE


@njit(cache=True, nogil=True)
def scan_batch(s: Places, bits: int, address: int, start: int, stop: int, base: int, mask: int) -> int:
    """Many queries."""
    number, width = s.number, s.width
    scratch, planes, table = aligned(width * BLOCK), aligned(66 * 8), aligned(TABLE // 8)
    near, state = aligned(16), aligned(number * 8 * 11 if width > 1 else 8)
    near_at, table_at = address_of(near), address_of(table)
    for row in range(start, stop, BLOCK):
        if crowded(s):
            return row
        if nobody(mask, row, stop):
            continue
        block = in_columns(address + 8 * width * row, width, min(BLOCK, stop - row), address_of(scratch))
        for w in range(width):
            part = _part(w, width, bits)
            _slice_block(block + STRIDE * w, address_of(planes), table_at, 11 if part == _SHORT else 22)
            lines = 8 * BLOCK // 64 * 2 // number + 1  # of the next block, asked for a few at a time
            for q in range(0, number, 2):
                fetch_ahead(address + 8 * width * row + STRIDE * (width + w) + 32 * lines * q, 64 * lines)
                query = s.queries + 8 * (width * q + w)
                held, begin = address_of(state) + 64 * 11 * q, s.starts + 8 * s.planes * q
                flags = _add_word(table_at, query, 8 * width, held, begin, near_at, part)
                if flags & 1:
                    _offer_sliced(s, q, near_at, address, mask, row, stop, base)
                if flags & 2:
                    _offer_sliced(s, q + 1, near_at + 64, address, mask, row, stop, base)
    return stop
