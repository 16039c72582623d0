"""The scan on tensor cores, which multiply matrices of single bits. Import only where Triton is installed.

With the query (q, not q) and the code (x, not x) side by side,

    popcount((q, ~q) & (x, ~x)) = number of equal bits = bits - distance,

and with `limit - bits` as the value that the sum starts from, the result is `limit - distance`, whose sign
tells. The sign bits of a block are joined by `and`, half an instruction for each distance; counting bits takes two
population counts, of which a multiprocessor starts 16 a clock, a quarter of its other instructions.
"""

# A kernel's parameters are Triton's, and its tuples grow while it is compiled, by concatenation alone.
# mypy: disable-error-code="no-untyped-def, assignment, var-annotated"
# ruff: noqa: RUF005

from __future__ import annotations

import triton
import triton.language as tl

from kinhash.kernels.gpu_triton import append, load_rows


@triton.jit
def _multiply(a0, a1, b, c0, c1, c2, c3):
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
def _halves(halves, plane, base, flip, WIDTH: tl.constexpr, PIECES: tl.constexpr):
    """What the lane holds of 16 * PIECES codes from row `base` on."""
    a = ()
    for p in tl.static_range(PIECES):
        for w in tl.static_range(WIDTH):
            here = halves + (w * plane + base + p * 16) * 2
            a = a + (tl.load(here) ^ flip, tl.load(here + 16) ^ flip)
    return a


@triton.jit(do_not_specialize=["lines", "begin", "hi", "tiles", "steps"])
def scan_tensor(
    words, lines: tl.int64, begin: tl.int64, hi: tl.int64, queries, limits, counts, histogram, starts, keys,
    tiles: tl.int32, steps: tl.int32,
    WIDTH: tl.constexpr, BINS: tl.constexpr, GROUPS: tl.constexpr, PIECES: tl.constexpr,
):  # fmt: skip
    """Rows from 1024 * begin to hi, programs of 16 * PIECES * steps, against 8 * GROUPS queries; one warp a program.

    Codes are loaded a step before they are compared.
    """
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
    start = begin * 1024 + (program // tiles).to(tl.int64) * (16 * PIECES * steps)
    halves = words.to(tl.pointer_type(tl.int32), bitcast=True) + row * 2 + half
    ahead = _halves(halves, plane, start, flip, WIDTH, PIECES)
    for step in range(steps):
        base = start + step * (16 * PIECES)
        a = ahead
        after = start + tl.minimum(step + 1, steps - 1) * (16 * PIECES)
        ahead = _halves(halves, plane, after, flip, WIDTH, PIECES)
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
            near = 0  # bit j: some of these codes are near some query of group j
            for j in tl.static_range(GROUPS):
                near = near | ((tl.max(far[j], 0) >= 0).to(tl.int32) << j)
            at = base + tl.arange(0, 16 * PIECES)
            x = load_rows(words, plane, at, hi, WIDTH, True)
            for q in range(8 * GROUPS):
                if (near >> (q // 8)) & 1 != 0:
                    append(
                        x, at, hi, first + q, queries, limits, counts, histogram, starts, keys, WIDTH, BINS
                    )
