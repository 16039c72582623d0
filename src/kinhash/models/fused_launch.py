"""The kernels of `fused_triton` and `norm_triton` as functions of tensors; how they divide their work was measured.

Pictures are in channels-last order. "Parts" are the sums of programs, which `settle` and `settle_gradient` add.
Import this module only where Triton is installed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from kinhash.models import fused_triton, norm_triton
from kinhash.models.arranged import group

_DEEP, _WIDE = 256, 2  # parts that are added at once, and channels of a program that does so
_BLOCK = 2048  # numbers of a program that treats every number by itself
_TILE = 4096  # numbers at once of a program that sums
_PROGRAMS = 512  # that sum, unless each takes fewer than four tiles or more than eight


@dataclass(frozen=True)
class Tile:
    """How the convolutions divide their work."""

    positions: int  # of a row of pictures side by side, in one product
    columns: int  # of the output, in one product
    warps: int
    stages: int
    rows: int = 8  # of the output a program computes
    tall: bool = True  # whether a program computes all three rows of the weights
    parts: int = 132  # programs that share the sum of the weights' gradient


FORWARD = {32: Tile(64, 64, 4, 3, rows=16), 64: Tile(64, 32, 4, 3, rows=16)}
BACKWARD = {32: Tile(64, 64, 8, 3, rows=16), 64: Tile(64, 32, 4, 3, rows=16)}
WEIGHTS = {
    32: Tile(64, 64, 8, 4),
    64: Tile(64, 64, 8, 3),
}


def _rows(
    x: Tensor,
    weights: Tensor,
    tile: Tile,
    norm: Tensor | None,
    act: Tensor | None,
    skip: Tensor | None,
    below: Tensor | None,
) -> tuple[Tensor, Tensor]:
    B, C, H, W = x.shape
    G = group(C)
    images = tile.positions * G // W
    programs = -(-B // images) * (H // tile.rows)
    out = torch.empty_like(x)
    parts = torch.empty(programs, 2, G, C, device=x.device)
    fused_triton.conv_rows[(programs, G * C // tile.columns)](
        x, weights, out, x if act is None else act, x if skip is None else skip, x if below is None else below,
        parts if norm is None else norm, parts, B,
        H=H, W=W, C=C, GROUP=G, IMAGES=images, ROWS=tile.rows, N=tile.columns, THREADS=32 * tile.warps,
        PRE=below is None and norm is not None, POST=0 if below is None else 1 if norm is not None else 2,
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    return out, parts


def convolve(x: Tensor, weights: Tensor, *, norm: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """conv(x), or conv(relu(BN(x))), and the parts of the sums of the output and its square."""
    return _rows(x, weights, FORWARD[x.shape[1]], norm, None, None, None)


def convolve_back(
    dy: Tensor,
    weights: Tensor,
    y: Tensor,
    *,
    act: Tensor | None = None,
    norm: Tensor | None = None,
    skip: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`below_relu` of the transposed convolution of dy; either the norm, or act and skip."""
    return _rows(dy, weights, BACKWARD[dy.shape[1]], norm, act, skip, y)


def weight_gradient(x: Tensor, dy: Tensor, gradient: Tensor, *, norm: Tensor | None = None) -> None:
    """gradient (C, 3, 3, C): of the weights that made y out of x, or out of relu(BN(x))."""
    B, C, H, W = x.shape
    G, tile = group(C), WEIGHTS[C]
    images = tile.positions * G // W
    steps = -(-B // images) * H
    each = -(-steps // tile.parts)
    count = -(-steps // each)
    parts = torch.empty(count, 3, C * (G + 2), C * G, device=x.device)
    fused_triton.weight_rows[(count, G * C // tile.columns, 1 if tile.tall else 3)](
        x, dy, parts if norm is None else norm, parts, B, each,
        H=H, W=W, C=C, GROUP=G, IMAGES=images, N=tile.columns, TALL=tile.tall, PRE=norm is not None,
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    block = 32
    fused_triton.add_weights[(9 * C * C // block,)](
        parts, gradient, count, C=C, GROUP=G, BLOCK=block, DEEP=64
    )


def settle(parts: Tensor, norm: nn.BatchNorm2d, pixels: int) -> Tensor:
    """(4, C) scale, shift, mean, 1/deviation from the sums of an output; moves the norm's running statistics."""
    C = norm.num_features
    found = torch.empty(4, C, device=parts.device)
    norm_triton.norm_forward[(C // _WIDE,)](
        parts, len(parts), norm.weight, norm.bias, norm.running_mean, norm.running_var, found,
        pixels, norm.momentum, norm.eps, C=C, GROUP=parts.shape[2], BLOCK=_WIDE, DEEP=_DEEP,
    )  # fmt: skip
    return found


def settle_gradient(parts: Tensor, norm: Tensor, pixels: int, dgamma: Tensor, dbeta: Tensor) -> Tensor:
    """(3, C) a, b, c of the gradient through a norm; writes the gradients of its own two weights."""
    C = norm.shape[1]
    pre = torch.empty(3, C, device=parts.device)
    norm_triton.norm_backward[(C // _WIDE,)](
        parts,
        len(parts),
        norm,
        dgamma,
        dbeta,
        pre,
        pixels,
        C=C,
        GROUP=parts.shape[2],
        BLOCK=_WIDE,
        DEEP=_DEEP,
    )
    return pre


def activated(y: Tensor, norm: Tensor, x: Tensor | None = None) -> Tensor:
    """`relu(BN(y))`, or `relu(BN(y) + x)`."""
    out = torch.empty_like(y)
    norm_triton.activate[(-(-y.numel() // _BLOCK),)](
        y, y if x is None else x, norm, out, y.numel(), C=y.shape[1], BLOCK=_BLOCK, JOIN=x is not None
    )
    return out


def through_norm(g: Tensor, y: Tensor, pre: Tensor) -> Tensor:
    """The gradient through a batch norm."""
    dy = torch.empty_like(y)
    norm_triton.through_norm[(-(-y.numel() // _BLOCK),)](g, y, pre, dy, y.numel(), C=y.shape[1], BLOCK=_BLOCK)
    return dy


def _shares(x: Tensor) -> tuple[int, int, int, int, Tensor]:
    """How sums over all pixels are shared: pixels, pixels at a time, times a program, programs, their parts."""
    B, C, H, W = x.shape
    pixels, block = B * H * W, _TILE // C
    steps = min(max(pixels // (block * _PROGRAMS), 4), 8)
    programs = -(-pixels // (block * steps))
    return pixels, block, steps, programs, torch.empty(programs, 2, 1, C, device=x.device)


def squares(y: Tensor) -> Tensor:
    """The parts of the sums of y and its square."""
    pixels, block, steps, programs, parts = _shares(y)
    norm_triton.squares[(programs,)](y, parts, pixels, steps, C=y.shape[1], BLOCK=block)
    return parts


def below_relu(
    g: Tensor,
    y: Tensor,
    *,
    act: Tensor | None = None,
    norm: Tensor | None = None,
    skip: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """g (+ skip) where act, or the norm of y, is positive; and the parts of the sums of that, and of that times y."""
    pixels, block, steps, programs, parts = _shares(g)
    out = torch.empty_like(g)
    norm_triton.below_relu[(programs,)](
        g, g if skip is None else skip, y if act is None else act, y, parts if norm is None else norm, out, parts,
        pixels, steps, C=g.shape[1], BLOCK=block, POST=1 if norm is not None else 0 if skip is None else 2,
    )  # fmt: skip
    return out, parts


def halved(x: Tensor) -> Tensor:
    """Means of 2 x 2 pixels, and as many channels of zeros."""
    B, C, H, W = x.shape
    out = torch.empty(
        B, 2 * C, H // 2, W // 2, dtype=x.dtype, device=x.device, memory_format=torch.channels_last
    )
    norm_triton.halve[(-(-out.numel() // _BLOCK),)](x, out, out.numel(), W=W // 2, C=C, BLOCK=_BLOCK)
    return out


def unhalved(g: Tensor, dx: Tensor) -> Tensor:
    """dx plus the gradient of `halved`."""
    out = torch.empty_like(dx)
    norm_triton.unhalve[(-(-out.numel() // _BLOCK),)](
        g, dx, out, out.numel(), W=g.shape[3], C=dx.shape[1], BLOCK=_BLOCK
    )
    return out
