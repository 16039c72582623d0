"""The scan on a GPU, in Triton: every code within a limit of a query is appended to that query's list.

A code that may matter is rare, so a program only asks of a whole block of codes whether any of them is near
enough to any of its queries, and takes the trouble to find out which ones only if so. `scan` counts the bits of
the exclusive or; `scan_tensor` has the tensor cores multiply matrices of single bits. With the query (q, not q)
and the code (x, not x) side by side,

    popcount((q, ~q) & (x, ~x)) = number of equal bits = bits - distance,

and with `limit - bits` as the value that the sum starts from, the result is `limit - distance`, whose sign
tells. The sign bits of a block are joined by `and`, half an instruction for each distance.

Codes lie in planes: word w of row i at `words[w * plane + i]`, planes are whole lines of 16 rows,
and scans begin at a multiple of 1024 rows, so that the compiler knows how everything is aligned. Import this module only where Triton is installed.
"""

from __future__ import annotations

import triton
import triton.language as tl

_ROW_BITS: tl.constexpr = tl.constexpr(40)  # a key is the distance above this many bits of row


@triton.jit
def _ones(x):  # type: ignore[no-untyped-def]  # a kernel
    """Number of set bits of uint64; the compiler knows this form and emits its popcount instruction."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56).to(tl.int32)


@triton.jit
def _rows(words, plane, at, hi, WIDTH: tl.constexpr, WHOLE: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """The codes of the rows `at`, one tensor a word."""
    x = ()
    for w in tl.static_range(WIDTH):
        if WHOLE:
            x = x + (tl.load(words + w * plane + at).to(tl.uint64, bitcast=True),)
        else:
            x = x + (tl.load(words + w * plane + at, mask=at < hi, other=0).to(tl.uint64, bitcast=True),)
    return x


@triton.jit
def _distance(x, query, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """Hamming distances of the codes to the query at this address."""
    total = _ones(x[0] ^ tl.load(query).to(tl.uint64, bitcast=True))
    for w in tl.static_range(1, WIDTH):
        total += _ones(x[w] ^ tl.load(query + w).to(tl.uint64, bitcast=True))
    return total


@triton.jit
def _append(
    x, at, hi, q, queries, limits, counts, histogram, starts, keys, WIDTH: tl.constexpr, BINS: tl.constexpr
):  # type: ignore[no-untyped-def]  # a kernel
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


@triton.jit
def scan(  # type: ignore[no-untyped-def]  # a kernel
    words, lines: tl.int64, begin: tl.int64, hi: tl.int64, queries, limits, counts, histogram, starts, keys, tiles: tl.int32,
    WIDTH: tl.constexpr, BINS: tl.constexpr, TILE: tl.constexpr, BLOCK: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Rows from 1024 * begin to hi against TILE queries, BLOCK rows a program; WHOLE says that all blocks are full."""
    program = tl.program_id(0)
    first = (program % tiles) * TILE
    plane = 16 * lines
    at = begin * 1024 + (program // tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = _rows(words, plane, at, hi, WIDTH, WHOLE)
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
            _append(x, at, hi, q, queries, limits, counts, histogram, starts, keys, WIDTH, BINS)


@triton.jit
def _multiply(a0, a1, b, c0, c1, c2, c3):  # type: ignore[no-untyped-def]  # a kernel
    """Add to c the number of bits set both in the codes (a0, a1) and in the queries b.

    One warp, 16 codes by 8 queries by 128 bits. Lane l holds code l // 4 (and that + 8), query l // 4, and of both
    the 32 bits number l % 4; of the result, for its two codes, query 2 * (l % 4) and the next.
    """
    return tl.inline_asm_elementwise(
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
        "{$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};",
        "=r,=r,=r,=r,r,r,r,r,r,r,r",
        [a0, a1, b, c0, c1, c2, c3],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32),
        is_pure=False,
        pack=1,
    )


@triton.jit
def _halves(halves, plane, base, flip, WIDTH: tl.constexpr, PIECES: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """What the lane holds of 16 * PIECES codes from row `base` on."""
    a = ()
    for p in tl.static_range(PIECES):
        for w in tl.static_range(WIDTH):
            here = halves + (w * plane + base + p * 16) * 2
            a = a + (tl.load(here) ^ flip, tl.load(here + 16) ^ flip)
    return a


@triton.jit
def scan_tensor(  # type: ignore[no-untyped-def]  # a kernel
    words, lines: tl.int64, begin: tl.int64, hi: tl.int64, queries, limits, counts, histogram, starts, keys, tiles: tl.int32,
    WIDTH: tl.constexpr, BINS: tl.constexpr, GROUPS: tl.constexpr, PIECES: tl.constexpr, STEPS: tl.constexpr, AHEAD: tl.constexpr,
):  # fmt: skip
    """Rows from 1024 * begin to hi, programs of 16 * PIECES * STEPS, against 8 * GROUPS queries; one warp a program."""
    program = tl.program_id(0)
    plane = 16 * lines
    first = (program % tiles) * (8 * GROUPS)
    lane = tl.arange(0, 32)
    row = lane // 4
    half = lane % 2
    flip = -((lane // 2) % 2)
    query_halves = queries.to(tl.pointer_type(tl.int32), bitcast=True)
    b = ()
    c = ()
    for j in tl.static_range(GROUPS):
        for w in tl.static_range(WIDTH):
            b = b + (tl.load(query_halves + ((first + j * 8 + row) * WIDTH + w) * 2 + half) ^ flip,)
        limit = limits + first + j * 8 + (lane % 4) * 2
        c = c + (tl.load(limit) - 64 * WIDTH, tl.load(limit + 1) - 64 * WIDTH)
    start = begin * 1024 + (program // tiles).to(tl.int64) * (16 * PIECES * STEPS)
    halves = words.to(tl.pointer_type(tl.int32), bitcast=True) + row * 2 + half
    ahead = _halves(halves, plane, start, flip, WIDTH, PIECES)
    for step in range(STEPS):
        base = start + step * (16 * PIECES)
        if AHEAD:
            a = ahead
        else:
            a = _halves(halves, plane, base, flip, WIDTH, PIECES)
        if AHEAD:
            ahead = _halves(
                halves, plane, start + tl.minimum(step + 1, STEPS - 1) * (16 * PIECES), flip, WIDTH, PIECES
            )
        far = ()  # negative where all 16 * PIECES codes are far from the lane's queries of a group
        all_far = tl.full((32,), -1, tl.int32)
        for j in tl.static_range(GROUPS):
            signs = tl.full((32,), -1, tl.int32)
            for p in tl.static_range(PIECES):
                d0, d1, d2, d3 = c[2 * j], c[2 * j + 1], c[2 * j], c[2 * j + 1]
                for w in tl.static_range(WIDTH):
                    d0, d1, d2, d3 = _multiply(
                        a[2 * (p * WIDTH + w)], a[2 * (p * WIDTH + w) + 1], b[j * WIDTH + w], d0, d1, d2, d3
                    )
                signs = signs & d0 & d1 & d2 & d3
            far = far + (signs,)
            all_far = all_far & signs
        if tl.max(all_far, 0) >= 0:
            at = base + tl.arange(0, 16 * PIECES)
            x = _rows(words, plane, at, hi, WIDTH, True)
            for j in tl.static_range(GROUPS):
                if tl.max(far[j], 0) >= 0:
                    for q in range(first + j * 8, first + j * 8 + 8):
                        _append(x, at, hi, q, queries, limits, counts, histogram, starts, keys, WIDTH, BINS)


@triton.jit
def set_limits(histogram, limits, queries: tl.int32, k: tl.int64, bits: tl.int32, BINS: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """Only a code nearer than the k-th found so far can still matter, as later rows lose every tie.

    Where fewer than k are found, everything matters; to the queries that pad the last tile, nothing does.
    """
    q = tl.program_id(0)
    found = tl.cumsum(tl.load(histogram + q * BINS + tl.arange(0, BINS)), 0)
    kth = tl.sum((found < k).to(tl.int32), 0)
    tl.store(limits + q, tl.where(q < queries, tl.minimum(kth, bits + 1) - 1, -1))
