"""3 x 3 convolutions with batch norm in their prologue and epilogue, in Triton, for pictures in channels-last order.

A program computes some rows of some pictures. Its tile is one row of IMAGES pictures, M positions of GROUP pixels
each, and it reads every row of the input once: the row's product with the upper, middle and lower weights goes to the
output rows above, at and below it, three of which are open at a time. Positions of 2 pixels (GROUP) with a window of 4
turn 32 channels into 128 x 64 products, which tensor cores like better than nine of 32 x 32: `WINDOW` columns are read
in SHIFTS parts, and the weights are laid out for that (`fused_block.arranged`).

What is summed over all pixels is summed in parts, one a program, and the parts are added in a fixed order.
Import this module only where Triton is installed.
"""

# mypy: disable-error-code="no-untyped-def, assignment"
# ruff: noqa: RUF005  # tuples grow while a kernel is compiled, by concatenation alone

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _load(x, at, inside, row, a, b, H: tl.constexpr, ROW: tl.constexpr, PRE: tl.constexpr):
    """One row of the input, with PRE `relu(a x + b)`; zero outside the picture."""
    ok = inside & (row >= 0) & (row < H)
    value = tl.load(x + (at + row * ROW), mask=ok, other=0.0)
    if PRE:
        value = tl.where(ok, tl.maximum(value.to(tl.float32) * a + b, 0.0), 0.0).to(x.dtype.element_ty)
    return value


@triton.jit
def _finish(
    total, sum1, sum2, out, act, skip, below, at, seen, row, a, b,
    ROW: tl.constexpr, POST: tl.constexpr, M: tl.constexpr, N: tl.constexpr, PASS: tl.constexpr,
):  # fmt: skip
    """Store one row of the output, and add to its sums.

    POST 0: as it is; sums of it and its square. 1: where `a below + b > 0`. 2: `+ skip` where act > 0. The sums of these
    are of the output and its product with `below`.
    The sums stay apart by rows of the tile such that a thread adds what it holds: two rows of every 16 as a product leaves
    them, every PASSth as they are stored.
    """
    where = at + row * ROW
    value = total.to(out.dtype.element_ty)
    if POST == 0:
        tl.store(out + where, value, mask=seen)
        value = tl.where(seen, value.to(tl.float32), 0.0)
        sum1 += tl.sum(tl.reshape(value, (M // 16, 2, 8, N)), 1)
        sum2 += tl.sum(tl.reshape(value * value, (M // 16, 2, 8, N)), 1)
    else:
        other = tl.load(below + where, mask=seen, other=0.0).to(tl.float32)
        if POST == 1:
            value = tl.where(other * a + b > 0, value, 0.0)
        else:
            value = value + tl.load(skip + where, mask=seen, other=0.0)
            value = tl.where(tl.load(act + where, mask=seen, other=0.0) > 0, value, 0.0)
        tl.store(out + where, value, mask=seen)
        value = tl.where(seen, value.to(tl.float32), 0.0)
        sum1 += tl.sum(tl.reshape(value, (M // PASS, PASS, N)), 0)
        sum2 += tl.sum(tl.reshape(value * other, (M // PASS, PASS, N)), 0)
    return sum1, sum2


@triton.jit(do_not_specialize=["images"])
def conv_rows(
    x, weights, out, act, skip, below, norm, sums, images,
    H: tl.constexpr, W: tl.constexpr, C: tl.constexpr, GROUP: tl.constexpr,
    IMAGES: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr,
    PRE: tl.constexpr, POST: tl.constexpr, THREADS: tl.constexpr,
):  # fmt: skip
    """out = conv(x), or with PRE conv(relu(a x + b)), and what `_finish` does with it.

    Programs: (groups of IMAGES pictures x strips of ROWS rows, blocks of N out of GROUP * C output columns).
    norm: (2, C) a, b of PRE, or of POST 1; sums: (programs, 2, GROUP * C).
    """
    ROW: tl.constexpr = W * C
    PLACES: tl.constexpr = W // GROUP
    M: tl.constexpr = IMAGES * PLACES
    SHIFTS: tl.constexpr = 3 if GROUP == 1 else 1
    KC: tl.constexpr = C if GROUP == 1 else 4 * C
    NT: tl.constexpr = GROUP * C
    PASS: tl.constexpr = 8 * THREADS // N if 8 * THREADS // N < M else M
    program = tl.program_id(0)
    first = (program % (H // ROWS)) * ROWS
    m = tl.arange(0, M)
    k = tl.arange(0, KC)
    n = tl.program_id(1) * N + tl.arange(0, N)
    image = (program // (H // ROWS)) * IMAGES + m // PLACES
    place = m % PLACES
    base = image * (H * ROW) + place * NT
    real = (image < images)[:, None]
    into = base[:, None] + n[None, :]
    pixel = (GROUP * place - 1)[:, None] + (k // C)[None, :]
    a = tl.zeros((1, KC), tl.float32)
    b = a
    if PRE:
        a = tl.load(norm + k % C)[None, :]
        b = tl.load(norm + C + k % C)[None, :]
    e = tl.zeros((1, N), tl.float32)
    f = e
    if POST == 1:
        e = tl.load(norm + n % C)[None, :]
        f = tl.load(norm + C + n % C)[None, :]
    lower = ()
    middle = ()
    upper = ()
    for s in tl.static_range(SHIFTS):
        part = weights + (s * KC + k)[:, None] * NT + n[None, :]
        upper = upper + (tl.load(part),)
        middle = middle + (tl.load(part + SHIFTS * KC * NT),)
        lower = lower + (tl.load(part + 2 * SHIFTS * KC * NT),)
    if POST == 0:
        sum1 = tl.zeros((M // 16, 8, N), tl.float32)
        sum2 = tl.zeros((M // 16, 8, N), tl.float32)
    else:
        sum1 = tl.zeros((PASS, N), tl.float32)
        sum2 = tl.zeros((PASS, N), tl.float32)
    above = tl.zeros((M, N), tl.float32)  # the output row above the input row at hand
    here = tl.zeros((M, N), tl.float32)
    for row in range(first - 1, first + ROWS + 1):  # the output begins with the third
        under = tl.zeros((M, N), tl.float32)
        for s in tl.static_range(SHIFTS):
            inside = real & (pixel + s >= 0) & (pixel + s < W)
            at = base[:, None] + (k + (s - 1) * C)[None, :]
            value = _load(x, at, inside, row, a, b, H, ROW, PRE)
            above = tl.dot(value, lower[s], above)
            here = tl.dot(value, middle[s], here)
            under = tl.dot(value, upper[s], under)
        seen = real & (row > first) & (n < NT)[None, :]
        sum1, sum2 = _finish(
            above, sum1, sum2, out, act, skip, below, into, seen, row - 1, e, f, ROW, POST, M, N, PASS
        )
        above = here
        here = under
    if POST == 0:
        sum1 = tl.sum(sum1, 1)
        sum2 = tl.sum(sum2, 1)
    to = sums + program * 2 * NT + n
    tl.store(to, tl.sum(sum1, 0))
    tl.store(to + NT, tl.sum(sum2, 0))


@triton.jit(do_not_specialize=["images", "steps"])
def weight_rows(
    x, dy, norm, parts, images, steps,
    H: tl.constexpr, W: tl.constexpr, C: tl.constexpr, GROUP: tl.constexpr,
    IMAGES: tl.constexpr, N: tl.constexpr, TALL: tl.constexpr, PRE: tl.constexpr,
):  # fmt: skip
    """The weights' gradient, in the arrangement of the weights; a program sums over `steps` rows of IMAGES pictures.

    Programs: (parts, blocks of N out of GROUP * C columns, one or three): with TALL a program computes the upper,
    middle and lower weights, otherwise one of the three.
    parts: (programs, 3, SHIFTS * KC, GROUP * C).
    """
    ROW: tl.constexpr = W * C
    PLACES: tl.constexpr = W // GROUP
    M: tl.constexpr = IMAGES * PLACES
    SHIFTS: tl.constexpr = 3 if GROUP == 1 else 1
    KC: tl.constexpr = C if GROUP == 1 else 4 * C
    NT: tl.constexpr = GROUP * C
    start = tl.program_id(0) * steps
    third = tl.program_id(2)
    m = tl.arange(0, M)
    k = tl.arange(0, KC)
    n = tl.program_id(1) * N + tl.arange(0, N)
    place = m % PLACES
    pixel = (GROUP * place - 1)[:, None] + (k // C)[None, :]
    column = k % C
    a = tl.zeros((1, KC), tl.float32)
    b = a
    if PRE:
        a = tl.load(norm + column)[None, :]
        b = tl.load(norm + C + column)[None, :]
    empty = tl.zeros((KC, N), tl.float32)
    g00 = empty
    g01 = empty
    g02 = empty
    g10 = empty
    g11 = empty
    g12 = empty
    g20 = empty
    g21 = empty
    g22 = empty
    for step in range(start, start + steps):
        row = step % H
        image = (step // H) * IMAGES + m // PLACES
        real = (image < images)[:, None]
        base = (image * (H * ROW) + place * NT)[:, None]
        near = dy + base + row * ROW + n[None, :]
        if TALL:  # the output rows above, at and below this input row
            d2 = tl.load(near - ROW, mask=real & (row > 0), other=0.0)
            d1 = tl.load(near, mask=real, other=0.0)
            d0 = tl.load(near + ROW, mask=real & (row < H - 1), other=0.0)
        else:
            other = row + 1 - third
            d0 = tl.load(near + (1 - third) * ROW, mask=real & (other >= 0) & (other < H), other=0.0)
            d1 = d0
            d2 = d0
        inside = real & (pixel >= 0) & (pixel < W)
        v = tl.trans(_load(x, base + (k - C)[None, :], inside, row, a, b, H, ROW, PRE))
        g00 = tl.dot(v, d0, g00)
        if TALL:
            g10 = tl.dot(v, d1, g10)
            g20 = tl.dot(v, d2, g20)
        if SHIFTS == 3:
            inside = real & (pixel + 1 < W)
            v = tl.trans(_load(x, base + k[None, :], inside, row, a, b, H, ROW, PRE))
            g01 = tl.dot(v, d0, g01)
            if TALL:
                g11 = tl.dot(v, d1, g11)
                g21 = tl.dot(v, d2, g21)
            inside = real & (pixel + 2 < W)
            v = tl.trans(_load(x, base + (k + C)[None, :], inside, row, a, b, H, ROW, PRE))
            g02 = tl.dot(v, d0, g02)
            if TALL:
                g12 = tl.dot(v, d1, g12)
                g22 = tl.dot(v, d2, g22)
    SIZE: tl.constexpr = KC * NT
    to = parts + (tl.program_id(0) * 3 + third) * (SHIFTS * SIZE) + k[:, None] * NT + n[None, :]
    tl.store(to, g00)
    if SHIFTS == 3:
        tl.store(to + SIZE, g01)
        tl.store(to + 2 * SIZE, g02)
    if TALL:
        tl.store(to + SHIFTS * SIZE, g10)
        tl.store(to + 2 * SHIFTS * SIZE, g20)
        if SHIFTS == 3:
            tl.store(to + 4 * SIZE, g11)
            tl.store(to + 5 * SIZE, g12)
            tl.store(to + 7 * SIZE, g21)
            tl.store(to + 8 * SIZE, g22)


@triton.jit(do_not_specialize=["count"])
def add_weights(
    parts, gradient, count, C: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr, DEEP: tl.constexpr
):
    """gradient (C out, 3, 3, C in) from the `count` parts of `weight_rows`; a program owns BLOCK values of it."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # ordered (row, column, in, out), as the parts are
    out = at % C
    tap = at // C  # (row, column, in)
    WINDOW: tl.constexpr = (GROUP + 2) * C
    NT: tl.constexpr = GROUP * C
    within = (tap // (3 * C)) * WINDOW + tap % (3 * C)
    deep = tl.arange(0, DEEP)
    total = tl.zeros((DEEP, BLOCK), tl.float32)
    for first in range(0, count, DEEP):
        part = (first + deep)[:, None]
        for g in tl.static_range(GROUP):
            place = parts + part * (3 * WINDOW * NT) + ((within + g * C) * NT + g * C + out)[None, :]
            total += tl.load(place, mask=part < count, other=0.0)
    tl.store(gradient + (out * 9 + tap // C) * C + tap % C, tl.sum(total, 0))
