"""The scan on a GPU, in Triton: every code within a limit of a query is appended to that query's list.

A code that may matter is rare, so a program only asks of a whole block of codes whether any of them is near
enough to any of its queries, and takes the trouble to find out which ones only if so. `scan` counts the bits of
the exclusive or; `gpu_tensor` does the same with tensor cores.

Codes lie in planes: word w of row i at `words[w * plane + i]`, planes are whole lines of 16 rows, and scans begin
at a multiple of 1024 rows, so that the compiler knows how everything is aligned. Numbers are not specialised on:
one kernel serves every range. Import this module only where Triton is installed.
"""

# A kernel's parameters are Triton's, and its tuples grow while it is compiled, by concatenation alone.
# mypy: disable-error-code="no-untyped-def, assignment"
# ruff: noqa: RUF005

from __future__ import annotations

import triton
import triton.language as tl

from kinhash.kernels import gpu_shard

_ROW_BITS = tl.constexpr(gpu_shard.ROW_BITS)


@triton.jit
def _ones(x):
    """Number of set bits of uint64; the compiler knows this form and emits its popcount instruction."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56).to(tl.int32)


@triton.jit
def load_rows(words, plane, at, hi, WIDTH: tl.constexpr, WHOLE: tl.constexpr):
    """The codes of the rows `at`, one tensor a word."""
    x = ()
    for w in tl.static_range(WIDTH):
        if WHOLE:
            x = x + (tl.load(words + w * plane + at).to(tl.uint64, bitcast=True),)
        else:
            x = x + (tl.load(words + w * plane + at, mask=at < hi, other=0).to(tl.uint64, bitcast=True),)
    return x


@triton.jit
def _distance(x, query, WIDTH: tl.constexpr):
    """Hamming distances of the codes to the query at this address."""
    total = _ones(x[0] ^ tl.load(query).to(tl.uint64, bitcast=True))
    for w in tl.static_range(1, WIDTH):
        total += _ones(x[w] ^ tl.load(query + w).to(tl.uint64, bitcast=True))
    return total


@triton.jit
def append(
    x, at, hi, q, queries, limits, counts, histogram, starts, keys, WIDTH: tl.constexpr, BINS: tl.constexpr
):
    """Append the keys of the near codes to the list of query q; past its end they are counted only."""
    distance = _distance(x, queries + q * WIDTH, WIDTH)
    near = (distance <= tl.load(limits + q)) & (at < hi)
    none = tl.zeros_like(distance)
    one = none.to(tl.int64) + 1
    slot = tl.atomic_add(counts + q + none, one, mask=near, sem="relaxed")
    if BINS > 0:
        tl.atomic_add(histogram + q * BINS + distance, one, mask=near, sem="relaxed")
    start = tl.load(starts + q)
    room = tl.load(starts + q + 1) - start
    key = (distance.to(tl.int64) << _ROW_BITS) | at
    tl.store(keys + start + slot, key, mask=near & (slot < room))


@triton.jit(do_not_specialize=["lines", "begin", "hi", "tiles"])
def scan(
    words, lines: tl.int64, begin: tl.int64, hi: tl.int64, queries, limits, counts, histogram, starts, keys,
    tiles: tl.int32,
    WIDTH: tl.constexpr, BINS: tl.constexpr, TILE: tl.constexpr, BLOCK: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Rows from 1024 * begin to hi against TILE queries, BLOCK rows a program; WHOLE says that all blocks are full."""
    program = tl.program_id(0)
    first = (program % tiles) * TILE
    plane = 16 * lines
    at = begin * 1024 + (program // tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = load_rows(words, plane, at, hi, WIDTH, WHOLE)
    above = tl.full((BLOCK,), 1, tl.int32)  # least distance above a limit
    UNROLL: tl.constexpr = TILE if TILE < 8 else 8
    for start in range(first, first + TILE, UNROLL):
        for i in tl.static_range(UNROLL):
            distance = _distance(x, queries + (start + i) * WIDTH, WIDTH)
            above = tl.minimum(above, distance - tl.load(limits + start + i))
    if not WHOLE:
        above = tl.where(at < hi, above, 1)
    if tl.min(above, 0) <= 0:
        for q in range(first, first + TILE):
            append(x, at, hi, q, queries, limits, counts, histogram, starts, keys, WIDTH, BINS)


@triton.jit(do_not_specialize=["queries", "k", "bits"])
def set_limits(histogram, limits, queries: tl.int32, k: tl.int64, bits: tl.int32, BINS: tl.constexpr):
    """Only a code nearer than the k-th found so far can still matter, as later rows lose every tie.

    Where fewer than k are found, everything matters; to the queries that pad the last tile, nothing does.
    """
    q = tl.program_id(0)
    found = tl.cumsum(tl.load(histogram + q * BINS + tl.arange(0, BINS)), 0)
    kth = tl.sum((found < k).to(tl.int32), 0)
    tl.store(limits + q, tl.where(q < queries, tl.minimum(kth, bits + 1) - 1, -1))
