"""From a flagged block to what is kept, and blocks laid out for vector instructions: what all kernels of the scan share."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinhash.kernels.bits import popcount64
from kinhash.kernels.selection import Places, keep
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.vector import (
    bytes_set,
    columns_of_eight,
    number_at,
    prefetch,
    put,
    trailing_zeros,
    word_at,
)

STRIDE = 8 * BLOCK  # bytes from a column to the next


@njit(cache=True, nogil=True)
def aligned(words: int) -> NDArray[np.uint64]:
    """Scratch words at a multiple of 64 bytes."""
    raw = np.zeros(words + 8, dtype=np.uint64)
    skip = (-np.int64(raw.ctypes.data) % 64) // 8
    return raw[skip : skip + words]


@njit(cache=True, nogil=True, forceinline=True)
def address_of(words: NDArray[np.uint64]) -> int:
    """Signed, as all addresses here: Numba makes a float of what may be signed or not."""
    return np.int64(words.ctypes.data)  # type: ignore[return-value]  # compiled


@njit(cache=True, nogil=True, forceinline=True)
def fetch_ahead(address: int, size: int) -> None:
    """Ask for the next block while this one is worked on."""
    for line in range(0, size, 64):
        prefetch(address + line)


@njit(cache=True, nogil=True, forceinline=True)
def passes(mask: int, row: int) -> bool:
    """Is the byte of this row set? Read as part of the aligned word around it."""
    address = mask + row
    inside = address & 7
    return (number_at(address - inside) >> (8 * inside)) & 255 != 0


@njit(cache=True, nogil=True, forceinline=True)
def nobody(mask: int, row: int, stop: int) -> bool:
    """No row of a whole block passes the filter."""
    if mask == 0 or row + BLOCK > stop:
        return False
    some = np.uint64(0)
    for i in range(row, row + BLOCK, 64):
        some |= bytes_set(mask + i)
    return some == 0


@njit(cache=True, nogil=True, forceinline=True)
def offer(s: Places, q: int, address: int, mask: int, row: int, base: int) -> None:
    """Row `row` was found near query q: keep it if it counts and is still near enough."""
    if mask != 0 and not passes(mask, row):
        return
    query, code = s.queries + 8 * s.width * q, address + 8 * s.width * row
    distance = 0
    for w in range(s.width):
        distance += popcount64(word_at(query + 8 * w) ^ word_at(code + 8 * w))
    if distance < number_at(s.accept + 8 * q):
        keep(s, q, base + row, distance)


@njit(cache=True, nogil=True, forceinline=True)
def offer_bits(
    s: Places, q: int, found: np.uint64, address: int, mask: int, row: int, stop: int, base: int
) -> None:
    """Offer the rows row + i of the bits i of `found`."""
    while found != np.uint64(0):
        at = row + trailing_zeros(found)
        if at < stop:
            offer(s, q, address, mask, at, base)
        found &= found - np.uint64(1)


@njit(cache=True, nogil=True)
def columns_of(address: int, width: int, count: int, columns: int) -> None:
    """Word w of up to 512 codes to column w; the rest of a short block keeps what it held."""
    eights = count & -8 if width & (width - 1) == 0 else 0
    for i in range(0, eights, 8):
        at, out = address + 8 * width * i, columns + 8 * i
        if width == 1:
            columns_of_eight(at, 1, out, STRIDE)
        elif width == 2:
            columns_of_eight(at, 2, out, STRIDE)
        elif width == 4:
            columns_of_eight(at, 4, out, STRIDE)
        else:
            columns_of_eight(at, 8, out, STRIDE)
    for i in range(eights, count):
        for w in range(width):
            put(columns + STRIDE * w + 8 * i, number_at(address + 8 * (w + width * i)))


@njit(cache=True, nogil=True, forceinline=True)
def in_columns(address: int, width: int, count: int, buffer: int) -> int:
    """Where the columns of a block are: codes of one word are a column, others go to the buffer."""
    if width == 1 and count == BLOCK:
        return address
    columns_of(address, width, count, buffer)
    return buffer
