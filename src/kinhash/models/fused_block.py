"""A run of equal residual blocks as one function for autograd, on the kernels of `fused_triton`.

A block is `out = relu(x + BN(y2))`, `y2 = conv(relu(BN(y1)))`, `y1 = conv(x)`. Only x, y1 and y2 are kept: every norm
is applied where the next convolution reads, and its gradient where the transposed convolution does. Weights and
norms stay those of the blocks' modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from kinhash.models import fused_triton as kernels

_DEEP = 128  # parts that are added at once


@dataclass(frozen=True)
class Tile:
    """How the kernels divide their work; chosen by measuring."""

    positions: int  # of a row of pictures side by side, in one product
    columns: int  # of the output, in one product
    warps: int
    stages: int
    rows: int = 8  # of the output a program computes
    tall: bool = True  # whether a program computes all three rows of the weights
    parts: int = 132  # programs that share the sum of the weights' gradient


FORWARD = {
    32: Tile(64, 64, 4, 2, rows=16),
    64: Tile(64, 64, 4, 1),
    128: Tile(64, 32, 4, 1),
}
BACKWARD = dict(FORWARD)
WEIGHTS = {
    32: Tile(64, 64, 8, 3, parts=264),
    64: Tile(64, 64, 4, 2, tall=False),
    128: Tile(64, 64, 8, 3, tall=False, parts=44),
}


def group(channels: int) -> int:
    """Pixels of a position."""
    return 2 if channels == 32 else 1


def arranged(weights: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """(L, C, C, 3, 3) -> (L, 3, window, columns) for the convolutions and for their transposes."""
    weights = weights.to(dtype)
    both = weights.permute(0, 3, 4, 2, 1), weights.flip(3, 4).permute(0, 3, 4, 1, 2)
    L, C = weights.shape[:2]
    if group(C) == 1:
        one, other = (w.reshape(L, 3, 3 * C, C).contiguous() for w in both)
        return one, other
    pairs = weights.new_zeros(2, L, 3, 4, C, 2, C)
    for pair, w in zip(pairs, both, strict=True):
        pair[:, :, :3, :, 0] = w
        pair[:, :, 1:, :, 1] = w
    return pairs[0].view(L, 3, 4 * C, 2 * C), pairs[1].view(L, 3, 4 * C, 2 * C)


def convolve(
    x: Tensor,
    weights: Tensor,
    tile: Tile,
    *,
    pre: Tensor | None = None,
    y: Tensor | None = None,
    dy: Tensor | None = None,
    post: Tensor | None = None,
    act: Tensor | None = None,
    skip: Tensor | None = None,
    below: Tensor | None = None,
    sums: bool = True,
) -> tuple[Tensor, Tensor]:
    """The output and the parts of its sums; what is given says what is fused (see the kernel)."""
    B, C, H, W = x.shape
    G = group(C)
    images = tile.positions * G // W
    programs = -(-B // images) * (H // tile.rows)
    out = torch.empty_like(x)
    parts = torch.empty(programs, 2, G, C, device=x.device)
    kernels.conv_rows[(programs, G * C // tile.columns)](
        x, x if y is None else y, x if dy is None else dy, weights, out,
        x if act is None else act, x if skip is None else skip, x if below is None else below,
        parts if pre is None else pre, parts if post is None else post, parts, B,
        H=H, W=W, C=C, GROUP=G, IMAGES=images, ROWS=tile.rows, N=tile.columns,
        PRE=0 if pre is None else 1 if y is None else 2,
        WRITE=dy is not None,
        POST=1 if post is not None else 0 if skip is None else 3 if act is None else 2,
        SUMS=0 if not sums else 1 if below is None and post is None else 2,
        THREADS=32 * tile.warps, AHEAD=tile.stages == 1, num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    return out, parts


def weight_gradient(x: Tensor, dy: Tensor, gradient: Tensor, tile: Tile, pre: Tensor | None = None) -> None:
    """gradient (C, 3, 3, C): of the weights that made y out of x, or out of `relu(a x + b)`."""
    B, C, H, W = x.shape
    G = group(C)
    images = tile.positions * G // W
    steps = -(-B // images) * H
    each = -(-steps // tile.parts)
    count = -(-steps // each)
    parts = torch.empty(count, 3, C * (G + 2), C * G, device=x.device)
    kernels.weight_rows[(count, G * C // tile.columns, 1 if tile.tall else 3)](
        x, dy, parts if pre is None else pre, parts, B, each,
        H=H, W=W, C=C, GROUP=G, IMAGES=images, N=tile.columns, TALL=tile.tall, PRE=int(pre is not None),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    block = 64
    kernels.add_weights[(9 * C * C // block,)](parts, gradient, count, C=C, GROUP=G, BLOCK=block, DEEP=32)


def settle(parts: Tensor, norm: nn.BatchNorm2d, pixels: int) -> Tensor:
    """(4, C) scale, shift, mean, 1/deviation from the sums of an output; moves the norm's running statistics."""
    C = norm.num_features
    found = torch.empty(4, C, device=parts.device)
    kernels.norm_forward[(C // 4,)](
        parts, len(parts), norm.weight, norm.bias, norm.running_mean, norm.running_var, found,
        pixels, norm.momentum, norm.eps, C=C, GROUP=parts.shape[2], BLOCK=4, DEEP=_DEEP,
    )  # fmt: skip
    return found


def settle_gradient(parts: Tensor, norm: Tensor, pixels: int, dgamma: Tensor, dbeta: Tensor) -> Tensor:
    """(3, C) a, b, c of the gradient through a norm; writes the gradients of its own two weights."""
    C = norm.shape[1]
    pre = torch.empty(3, C, device=parts.device)
    kernels.norm_backward[(C // 4,)](
        parts, len(parts), norm, dgamma, dbeta, pre, pixels, C=C, GROUP=parts.shape[2], BLOCK=4, DEEP=_DEEP
    )
    return pre


def activated(y: Tensor, norm: Tensor, x: Tensor | None = None) -> Tensor:
    """`relu(BN(y))`, or `relu(BN(y) + x)`."""
    out = torch.empty_like(y)
    block = 2048
    kernels.activate[(-(-y.numel() // block),)](
        y, y if x is None else x, norm, out, y.numel(), C=y.shape[1], BLOCK=block, JOIN=x is not None
    )
    return out


def through_norm(g: Tensor, y: Tensor, pre: Tensor, dy: Tensor) -> None:
    """The gradient through a batch norm, into dy."""
    block = 2048
    kernels.through_norm[(-(-y.numel() // block),)](g, y, pre, dy, y.numel(), C=y.shape[1], BLOCK=block)


def _shares(x: Tensor) -> tuple[int, int, int, int, Tensor]:
    """How sums over all pixels are shared: pixels, pixels a time, times a program, programs, their parts."""
    B, C, H, W = x.shape
    pixels, block = B * H * W, 4096 // C
    steps = max(1, min(8, pixels // (block * 512)))
    programs = -(-pixels // (block * steps))
    return pixels, block, steps, programs, torch.empty(programs, 2, 1, C, device=x.device)


def squares(y: Tensor) -> Tensor:
    """The parts of the sums of y and its square."""
    pixels, block, steps, programs, parts = _shares(y)
    kernels.squares[(programs,)](y, parts, pixels, steps, C=y.shape[1], BLOCK=block, num_warps=8)
    return parts


def below_relu(
    g: Tensor, y: Tensor, *, act: Tensor | None = None, norm: Tensor | None = None, skip: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """g (+ skip) where act, or the norm of y, is positive; and the parts of its sums."""
    pixels, block, steps, programs, parts = _shares(g)
    out = torch.empty_like(g)
    kernels.below_relu[(programs,)](
        g, g if skip is None else skip, y if act is None else act, y, parts if norm is None else norm, out, parts,
        pixels, steps, C=g.shape[1], BLOCK=block, POST=1 if norm is not None else 0 if skip is None else 2,
        num_warps=8,
    )  # fmt: skip
    return out, parts


def _library(x: Tensor, weight: Tensor) -> Tensor:
    return torch.nn.functional.conv2d(x, weight, padding=1)


def _library_gradient(dy: Tensor, x: Tensor, weight: Tensor, which: int) -> Tensor:
    """0: of x. 1: of the weights."""
    mask = [which == 0, which == 1, False]
    one = [1, 1]
    found: Tensor = torch.ops.aten.convolution_backward(
        dy, x, weight, None, one, one, one, False, [0, 0], 1, mask
    )[which]
    return found


@dataclass(frozen=True)
class Plan:
    """Which convolutions are our own, and which the library's with our norms around them; chosen by measuring."""

    forward: bool
    backward: bool
    weights: bool


PLANS = {
    32: Plan(forward=True, backward=False, weights=True),
    64: Plan(forward=False, backward=False, weights=True),
    128: Plan(forward=False, backward=False, weights=False),
}


class Run(torch.autograd.Function):
    """Blocks of one shape, one after the other."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, norms: Sequence[nn.BatchNorm2d], *weights: Tensor) -> Tensor:
        """norms: two a block; weights: of the convolutions and, for autograd, of the norms."""
        B, C, H, W = x.shape
        pixels = B * H * W
        plan = PLANS[C]
        stacked = torch.stack(weights[: len(norms)]).to(x.dtype)
        ahead, ctx.back = arranged(stacked, x.dtype) if plan.forward or plan.backward else (stacked, stacked)
        # as the library wants them: (L, C, C, 3, 3) in channels-last order
        ctx.plain = stacked.permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3)
        kept: list[Tensor] = [x]
        tile = FORWARD[C]
        for i in range(0, len(norms), 2):
            if plan.forward:
                y1, parts = convolve(x, ahead[i], tile)
            else:
                y1 = _library(x, ctx.plain[i])
                parts = squares(y1)
            norm1 = settle(parts, norms[i], pixels)
            if plan.forward:
                a1 = y1  # never made
                y2, parts = convolve(y1, ahead[i + 1], tile, pre=norm1)
            else:
                a1 = activated(y1, norm1)
                y2 = _library(a1, ctx.plain[i + 1])
                parts = squares(y2)
            norm2 = settle(parts, norms[i + 1], pixels)
            x = activated(y2, norm2, x)
            kept += [y1, norm1, a1, y2, norm2, x]
        torch._foreach_add_([norm.num_batches_tracked for norm in norms], 1)  # type: ignore[misc]
        ctx.save_for_backward(*kept)
        return x

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Any:
        x, *kept = ctx.saved_tensors
        blocks = [kept[i : i + 6] for i in range(0, len(kept), 6)]
        B, C, H, W = x.shape
        plan = PLANS[C]
        pixels, count = B * H * W, 2 * len(blocks)
        dw = torch.empty(count, C, 3, 3, C, device=x.device)
        dgamma, dbeta = torch.empty(2, count, C, device=x.device)
        tile = BACKWARD[C]
        g = upstream[0].to(x.dtype).contiguous(memory_format=torch.channels_last)
        gz, parts = below_relu(g, blocks[-1][3], act=blocks[-1][5])
        dy = torch.empty_like(x)
        for i in reversed(range(len(blocks))):
            y1, norm1, a1, y2, norm2, _ = blocks[i]
            before = blocks[i - 1][5] if i else x
            first, second = 2 * i, 2 * i + 1
            pre = settle_gradient(parts, norm2, pixels, dgamma[second], dbeta[second])
            if plan.backward:
                g, parts = convolve(
                    gz, ctx.back[second], tile, pre=pre, y=y2, dy=dy, post=norm1, act=y1, below=y1
                )
            else:
                through_norm(gz, y2, pre, dy)
                g, parts = below_relu(_library_gradient(dy, y1, ctx.plain[second], 0), y1, norm=norm1)
            if plan.weights:
                weight_gradient(a1, dy, dw[second], WEIGHTS[C], norm1 if plan.forward else None)
            else:
                a = activated(y1, norm1) if plan.forward else a1
                dw[second].permute(0, 3, 1, 2).copy_(_library_gradient(dy, a, ctx.plain[second], 1))
            pre = settle_gradient(parts, norm1, pixels, dgamma[first], dbeta[first])
            if plan.backward:
                more = {"act": before, "below": blocks[i - 1][3]} if i else {}
                gz, parts = convolve(
                    g, ctx.back[first], tile, pre=pre, y=y1, dy=dy, skip=gz, sums=i > 0, **more
                )
            else:
                through_norm(g, y1, pre, dy)
                g = _library_gradient(dy, before, ctx.plain[first], 0)
                if i:
                    gz, parts = below_relu(g, blocks[i - 1][3], act=before, skip=gz)
                else:
                    gz = g + gz
            if plan.weights:
                weight_gradient(before, dy, dw[first], WEIGHTS[C])
            else:
                dw[first].permute(0, 3, 1, 2).copy_(_library_gradient(dy, before, ctx.plain[first], 1))
        return gz, None, *dw.permute(0, 1, 4, 2, 3), *dgamma, *dbeta


def fits(blocks: Sequence[Any], x: Tensor) -> bool:
    """Whether the kernels can compute these blocks for this input."""
    norms = [norm for block in blocks for norm in (block.norm1, block.norm2)]
    C, H, W = x.shape[1:]
    return (
        C in FORWARD
        and x.is_cuda
        and x.dtype in (torch.bfloat16, torch.float16)
        and H in (8, 16, 32)
        and W in (8, 16, 32)
        and all(type(norm) is nn.BatchNorm2d and norm.momentum and norm.track_running_stats for norm in norms)
    )


def run(blocks: Sequence[Any], x: Tensor) -> Tensor:
    """The output of equal blocks, each with conv1, norm1, conv2, norm2."""
    norms = [norm for block in blocks for norm in (block.norm1, block.norm2)]
    convs = [conv.weight for block in blocks for conv in (block.conv1, block.conv2)]
    x = x.contiguous(memory_format=torch.channels_last)
    out: Tensor = Run.apply(  # type: ignore[no-untyped-call]
        x, norms, *convs, *(norm.weight for norm in norms), *(norm.bias for norm in norms)
    )
    return out
