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
def _fetch(x, y, at, inside, row, H: tl.constexpr, ROW: tl.constexpr, PRE: tl.constexpr):
    """One row of x, and of y where it is needed."""
    ok = inside & (row >= 0) & (row < H)
    value = tl.load(x + (at + row * ROW), mask=ok, other=0.0)
    other = value
    if PRE == 2:
        other = tl.load(y + (at + row * ROW), mask=ok, other=0.0)
    return value, other


@triton.jit
def _prepare(
    value, other, dy, at, inside, own, row, a, b, c,
    H: tl.constexpr, ROW: tl.constexpr, PRE: tl.constexpr, WRITE: tl.constexpr,
):  # fmt: skip
    """One row of the input as the products take it; zero outside the picture.

    PRE 0: x as it is. 1: `relu(a x + b)`. 2: `a x + b y + c`, the gradient through a batch norm; WRITE keeps it in dy.
    """
    ok = inside & (row >= 0) & (row < H)
    kind = value.dtype
    if PRE == 1:
        active = tl.maximum(value.to(tl.float32) * a + b, 0.0)
        value = tl.where(ok, active, 0.0).to(kind)
    elif PRE == 2:
        passed = value.to(tl.float32) * a + (other.to(tl.float32) * b + c)
        value = tl.where(ok, passed, 0.0).to(kind)
        if WRITE:
            tl.store(dy + (at + row * ROW), value, mask=own & ok)
    return value


@triton.jit
def _load(
    x, y, dy, at, inside, own, row, a, b, c,
    H: tl.constexpr, ROW: tl.constexpr, PRE: tl.constexpr, WRITE: tl.constexpr,
):  # fmt: skip
    """Both at once."""
    value, other = _fetch(x, y, at, inside, row, H, ROW, PRE)
    return _prepare(value, other, dy, at, inside, own, row, a, b, c, H, ROW, PRE, WRITE)


@triton.jit
def _finish(
    total, sum1, sum2, out, act, skip, below, at, seen, row, a, b,
    ROW: tl.constexpr, POST: tl.constexpr, SUMS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, PASS: tl.constexpr,
):  # fmt: skip
    """Store one row of the output, and add to its sums.

    POST 0: as it is. 1: where `a act + b > 0`. 2: `+ skip` where act > 0. 3: `+ skip`.
    SUMS 1: of the output and its square. 2: of the output and its product with `below`. They stay apart by rows of the
    tile such that a thread adds what it holds: 16 rows by two as a product leaves them, PASS as they are stored.
    """
    where = at + row * ROW
    value = total.to(out.dtype.element_ty)
    if POST == 1:
        other = tl.load(act + where, mask=seen, other=0.0).to(tl.float32)
        value = tl.where(other * a + b > 0, value, 0.0)
    elif POST >= 2:
        value = value + tl.load(skip + where, mask=seen, other=0.0)
        if POST == 2:
            value = tl.where(tl.load(act + where, mask=seen, other=0.0) > 0, value, 0.0)
    tl.store(out + where, value, mask=seen)
    if SUMS > 0:
        value = value.to(tl.float32)
        if SUMS == 1:
            other = value
        elif POST != 1:
            other = tl.load(below + where, mask=seen, other=0.0).to(tl.float32)
        if SUMS == 1:
            sum1 += tl.sum(tl.reshape(value, (M // 16, 2, 8, N)), 1)
            sum2 += tl.sum(tl.reshape(value * other, (M // 16, 2, 8, N)), 1)
        else:
            sum1 += tl.sum(tl.reshape(value, (M // PASS, PASS, N)), 0)
            sum2 += tl.sum(tl.reshape(value * other, (M // PASS, PASS, N)), 0)
    return sum1, sum2


@triton.jit(do_not_specialize=["images"])
def conv_rows(
    x, y, dy, weights, out, act, skip, below, pre, post, sums, images,
    H: tl.constexpr, W: tl.constexpr, C: tl.constexpr, GROUP: tl.constexpr,
    IMAGES: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr,
    PRE: tl.constexpr, WRITE: tl.constexpr, POST: tl.constexpr, SUMS: tl.constexpr, THREADS: tl.constexpr,
    AHEAD: tl.constexpr,
):  # fmt: skip
    """out = conv(x) with what `_load` does before and `_finish` after; see there for PRE, WRITE, POST, SUMS.

    Programs: (groups of IMAGES pictures x strips of ROWS rows, blocks of N out of GROUP * C output columns).
    pre: (3, C) a, b, c of `_load`; post: (2, C) a, b of `_finish`; sums: (programs, 2, GROUP * C).
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
    real = image < images
    into = base[:, None] + n[None, :]
    seen = (real[:, None]) & (n[None, :] < NT)
    column = k % C
    pixel = (GROUP * place - 1)[:, None] + (k // C)[None, :]
    a = tl.zeros((1, KC), tl.float32)
    b = a
    c = a
    if PRE > 0:
        a = tl.load(pre + column)[None, :]
        b = tl.load(pre + C + column)[None, :]
    if PRE == 2:
        c = tl.load(pre + 2 * C + column)[None, :]
    e = tl.zeros((1, N), tl.float32)
    f = e
    if POST == 1:
        e = tl.load(post + n % C)[None, :]
        f = tl.load(post + C + n % C)[None, :]
    lower = ()
    middle = ()
    upper = ()
    for s in tl.static_range(SHIFTS):
        part = weights + (s * KC + k)[:, None] * NT + n[None, :]
        upper = upper + (tl.load(part),)
        middle = middle + (tl.load(part + SHIFTS * KC * NT),)
        lower = lower + (tl.load(part + 2 * SHIFTS * KC * NT),)
    if SUMS == 2:
        sum1 = tl.zeros((PASS, N), tl.float32)
        sum2 = tl.zeros((PASS, N), tl.float32)
    else:
        sum1 = tl.zeros((M // 16, 8, N), tl.float32)
        sum2 = tl.zeros((M // 16, 8, N), tl.float32)
    above = tl.zeros((M, N), tl.float32)  # the output row above the input row at hand
    here = tl.zeros((M, N), tl.float32)
    for s in tl.static_range(SHIFTS):
        inside = real[:, None] & (pixel + s >= 0) & (pixel + s < W)
        at = base[:, None] + (k + (s - 1) * C)[None, :]
        value = _load(x, y, dy, at, inside, inside, first - 1, a, b, c, H, ROW, PRE, False)
        above = tl.dot(value, upper[s], above)
    for s in tl.static_range(SHIFTS):
        inside = real[:, None] & (pixel + s >= 0) & (pixel + s < W)
        own = (k // C + s >= 1) & (k // C + s < 1 + GROUP)
        at = base[:, None] + (k + (s - 1) * C)[None, :]
        value = _load(x, y, dy, at, inside, own[None, :], first, a, b, c, H, ROW, PRE, WRITE)
        above = tl.dot(value, middle[s], above)
        here = tl.dot(value, upper[s], here)
    if AHEAD:
        inside = real[:, None] & (pixel >= 0) & (pixel < W)
        got, also = _fetch(x, y, base[:, None] + (k - C)[None, :], inside, first + 1, H, ROW, PRE)
    for row in range(first + 1, first + ROWS + 1):
        below_it = tl.zeros((M, N), tl.float32)
        for s in tl.static_range(SHIFTS):
            inside = real[:, None] & (pixel + s >= 0) & (pixel + s < W)
            own = (k // C + s >= 1) & (k // C + s < 1 + GROUP) & (row < first + ROWS)
            at = base[:, None] + (k + (s - 1) * C)[None, :]
            if AHEAD:  # the next part is on its way while this one is multiplied
                value = _prepare(got, also, dy, at, inside, own[None, :], row, a, b, c, H, ROW, PRE, WRITE)
                if s + 1 < SHIFTS:
                    inside = real[:, None] & (pixel + (s + 1) >= 0) & (pixel + (s + 1) < W)
                    got, also = _fetch(x, y, base[:, None] + (k + s * C)[None, :], inside, row, H, ROW, PRE)
                else:
                    inside = real[:, None] & (pixel >= 0) & (pixel < W)
                    got, also = _fetch(x, y, base[:, None] + (k - C)[None, :], inside, row + 1, H, ROW, PRE)
            else:
                value = _load(x, y, dy, at, inside, own[None, :], row, a, b, c, H, ROW, PRE, WRITE)
            above = tl.dot(value, lower[s], above)
            here = tl.dot(value, middle[s], here)
            below_it = tl.dot(value, upper[s], below_it)
        sum1, sum2 = _finish(
            above, sum1, sum2, out, act, skip, below, into, seen, row - 1, e, f, ROW, POST, SUMS, M, N, PASS
        )
        above = here
        here = below_it
    if SUMS > 0:
        to = sums + program * 2 * NT + n
        if SUMS == 1:
            sum1 = tl.sum(sum1, 1)
            sum2 = tl.sum(sum2, 1)
        tl.store(to, tl.sum(sum1, 0))
        tl.store(to + NT, tl.sum(sum2, 0))


@triton.jit(do_not_specialize=["images", "steps"])
def weight_rows(
    x, dy, pre, parts, images, steps,
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
    if PRE > 0:
        a = tl.load(pre + column)[None, :]
        b = tl.load(pre + C + column)[None, :]
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
        v = tl.trans(
            _load(x, x, x, base + (k - C)[None, :], inside, inside, row, a, b, b, H, ROW, PRE, False)
        )
        g00 = tl.dot(v, d0, g00)
        if TALL:
            g10 = tl.dot(v, d1, g10)
            g20 = tl.dot(v, d2, g20)
        if SHIFTS == 3:
            inside = real & (pixel + 1 < W)
            v = tl.trans(_load(x, x, x, base + k[None, :], inside, inside, row, a, b, b, H, ROW, PRE, False))
            g01 = tl.dot(v, d0, g01)
            if TALL:
                g11 = tl.dot(v, d1, g11)
                g21 = tl.dot(v, d2, g21)
            inside = real & (pixel + 2 < W)
            v = tl.trans(
                _load(x, x, x, base + (k + C)[None, :], inside, inside, row, a, b, b, H, ROW, PRE, False)
            )
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


@triton.jit
def _column_sums(
    sums, count, channel, C: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr, DEEP: tl.constexpr
):
    """Both sums of these channels over all programs, in float64; sums: (count, 2, GROUP, C)."""
    deep = tl.arange(0, DEEP)
    total1 = tl.zeros((DEEP, BLOCK), tl.float64)
    total2 = tl.zeros((DEEP, BLOCK), tl.float64)
    for start in range(0, count * GROUP, DEEP):
        part = (start + deep)[:, None]
        place = sums + (part // GROUP) * (2 * GROUP * C) + (part % GROUP) * C + channel[None, :]
        total1 += tl.load(place, mask=part < count * GROUP, other=0.0).to(tl.float64)
        total2 += tl.load(place + GROUP * C, mask=part < count * GROUP, other=0.0).to(tl.float64)
    return tl.sum(total1, 0), tl.sum(total2, 0)


@triton.jit(do_not_specialize=["count", "pixels"])
def norm_forward(
    sums, count, gamma, beta, mean_kept, var_kept, norm, pixels, momentum, eps,
    C: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """Sums of an output and its square -> norm (4, C): scale, shift, mean, 1/deviation; running statistics move on."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total, squares = _column_sums(sums, count, channel, C, GROUP, BLOCK, DEEP)
    mean = total / pixels
    var = tl.maximum(squares / pixels - mean * mean, 0.0)
    inverse = 1.0 / tl.sqrt(var + eps)
    scale = tl.load(gamma + channel) * inverse
    tl.store(norm + channel, scale.to(tl.float32))
    tl.store(norm + C + channel, (tl.load(beta + channel) - mean * scale).to(tl.float32))
    tl.store(norm + 2 * C + channel, mean.to(tl.float32))
    tl.store(norm + 3 * C + channel, inverse.to(tl.float32))
    old = tl.load(mean_kept + channel)
    tl.store(mean_kept + channel, (old + momentum * (mean - old)).to(tl.float32))
    old = tl.load(var_kept + channel)
    unbiased = var * pixels / (pixels - 1.0)
    tl.store(var_kept + channel, (old + momentum * (unbiased - old)).to(tl.float32))


@triton.jit(do_not_specialize=["count", "pixels"])
def norm_backward(
    sums, count, norm, dgamma, dbeta, pre, pixels,
    C: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """Sums of g and g y -> the norm's gradients, and pre (3, C): `a g + b y + c` is the gradient of y."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total, product = _column_sums(sums, count, channel, C, GROUP, BLOCK, DEEP)
    scale = tl.load(norm + channel).to(tl.float64)
    mean = tl.load(norm + 2 * C + channel).to(tl.float64)
    inverse = tl.load(norm + 3 * C + channel).to(tl.float64)
    slope = inverse * (product - mean * total)
    tl.store(dgamma + channel, slope.to(tl.float32))
    tl.store(dbeta + channel, total.to(tl.float32))
    b = -scale * inverse * slope / pixels
    tl.store(pre + channel, scale.to(tl.float32))
    tl.store(pre + C + channel, b.to(tl.float32))
    tl.store(pre + 2 * C + channel, (-scale * total / pixels - b * mean).to(tl.float32))


@triton.jit
def activate(y, x, norm, out, size, C: tl.constexpr, BLOCK: tl.constexpr, JOIN: tl.constexpr):
    """out = relu(scale y + shift), or with JOIN relu(scale y + shift + x), the end of a block."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < size
    channel = at % C
    value = tl.load(y + at, mask=ok, other=0.0).to(tl.float32)
    value = value * tl.load(norm + channel) + tl.load(norm + C + channel)
    if JOIN:
        value = value.to(out.dtype.element_ty).to(tl.float32) + tl.load(x + at, mask=ok, other=0.0).to(
            tl.float32
        )
    tl.store(out + at, tl.maximum(value, 0.0).to(out.dtype.element_ty), mask=ok)


@triton.jit
def through_norm(g, y, pre, dy, size, C: tl.constexpr, BLOCK: tl.constexpr):
    """dy = a g + b y + c: the gradient through a batch norm."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < size
    channel = at % C
    value = tl.load(g + at, mask=ok, other=0.0).to(tl.float32) * tl.load(pre + channel)
    value += tl.load(y + at, mask=ok, other=0.0).to(tl.float32) * tl.load(pre + C + channel)
    value += tl.load(pre + 2 * C + channel)
    tl.store(dy + at, value.to(dy.dtype.element_ty), mask=ok)


@triton.jit(do_not_specialize=["pixels", "steps"])
def squares(y, sums, pixels, steps, C: tl.constexpr, BLOCK: tl.constexpr):
    """The sums of y and its square; `steps` times BLOCK pixels a program."""
    channel = tl.arange(0, C)[None, :]
    sum1 = tl.zeros((BLOCK, C), tl.float32)
    sum2 = tl.zeros((BLOCK, C), tl.float32)
    for step in range(steps):
        pixel = ((tl.program_id(0) * steps + step) * BLOCK + tl.arange(0, BLOCK))[:, None]
        value = tl.load(y + pixel * C + channel, mask=pixel < pixels, other=0.0).to(tl.float32)
        sum1 += value
        sum2 += value * value
    to = sums + tl.program_id(0) * 2 * C + tl.arange(0, C)
    tl.store(to, tl.sum(sum1, 0))
    tl.store(to + C, tl.sum(sum2, 0))


@triton.jit(do_not_specialize=["pixels", "steps"])
def below_relu(
    g, skip, act, y, norm, out, sums, pixels, steps, C: tl.constexpr, BLOCK: tl.constexpr, POST: tl.constexpr
):
    """out = the gradient g below a ReLU, and the sums of out and out y; `steps` times BLOCK pixels a program.

    POST 0: g where act > 0. 1: g where scale y + shift > 0. 2: g + skip where act > 0.
    """
    channel = tl.arange(0, C)[None, :]
    if POST == 1:
        scale = tl.load(norm + channel)
        shift = tl.load(norm + C + channel)
    sum1 = tl.zeros((BLOCK, C), tl.float32)
    sum2 = tl.zeros((BLOCK, C), tl.float32)
    for step in range(steps):
        pixel = ((tl.program_id(0) * steps + step) * BLOCK + tl.arange(0, BLOCK))[:, None]
        ok = pixel < pixels
        at = pixel * C + channel
        value = tl.load(g + at, mask=ok, other=0.0)
        other = tl.load(y + at, mask=ok, other=0.0).to(tl.float32)
        if POST == 1:
            value = tl.where(ok & (other * scale + shift > 0), value, 0.0)
        else:
            if POST == 2:
                value += tl.load(skip + at, mask=ok, other=0.0)
            value = tl.where(tl.load(act + at, mask=ok, other=0.0) > 0, value, 0.0)
        tl.store(out + at, value, mask=ok)
        value = value.to(tl.float32)
        sum1 += value
        sum2 += value * other
    to = sums + tl.program_id(0) * 2 * C + tl.arange(0, C)
    tl.store(to, tl.sum(sum1, 0))
    tl.store(to + C, tl.sum(sum2, 0))
