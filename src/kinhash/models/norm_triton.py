"""Batch norm around convolutions, in Triton: sums over all pixels, what follows from them, and what they are for.

What is summed over all pixels is summed in parts, one a program, and the parts are added in a fixed order.
Import this module only where Triton is installed.
"""

# mypy: disable-error-code="no-untyped-def, assignment"

from __future__ import annotations

import triton
import triton.language as tl


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


@triton.jit
def halve(x, out, size, W: tl.constexpr, C: tl.constexpr, BLOCK: tl.constexpr):
    """out (B, H, W, 2 C): means of 2 x 2 pixels of x (B, 2 H, 2 W, C), then zeros."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel = at % (2 * C)
    pixel = at // (2 * C)
    real = (at < size) & (channel < C)
    corner = x + ((pixel // W) * 4 * W + (pixel % W) * 2) * C + channel
    total = tl.load(corner, mask=real, other=0.0).to(tl.float32)
    total += tl.load(corner + C, mask=real, other=0.0).to(tl.float32)
    total += tl.load(corner + 2 * W * C, mask=real, other=0.0).to(tl.float32)
    total += tl.load(corner + 2 * W * C + C, mask=real, other=0.0).to(tl.float32)
    tl.store(out + at, (0.25 * total).to(out.dtype.element_ty), mask=at < size)


@triton.jit
def unhalve(g, dx, out, size, W: tl.constexpr, C: tl.constexpr, BLOCK: tl.constexpr):
    """out (B, 2 H, 2 W, C) = dx + the gradient of `halve` for g (B, H, W, 2 C)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = at < size
    channel = at % C
    pixel = at // C
    line = pixel // (2 * W)
    place = ((line // 2) * W + (pixel % (2 * W)) // 2) * (2 * C) + channel
    value = 0.25 * tl.load(g + place, mask=ok, other=0.0).to(tl.float32)
    value += tl.load(dx + at, mask=ok, other=0.0).to(tl.float32)
    tl.store(out + at, value.to(out.dtype.element_ty), mask=ok)
