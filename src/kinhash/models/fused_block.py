"""Residual blocks of one width, and a batch norm with its ReLU, as functions for autograd on kernels of our own.

A block is `out = relu(BN(y2) + x)`, `y2 = conv(a1)`, `a1 = relu(BN(y1))`, `y1 = conv(x)`. All between two convolutions is
one pass over the numbers, or part of a convolution of our own; weights and norms stay those of the blocks' modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.models.arranged import arranged

SIDE = 32  # pixels; the plans are for pictures of this size


@dataclass(frozen=True)
class Plan:
    """Which convolutions are our own, and which the library's; chosen by measuring."""

    forward: bool
    backward: bool
    weights: bool


PLANS = {
    32: Plan(forward=True, backward=True, weights=True),
    64: Plan(forward=False, backward=False, weights=True),
    128: Plan(forward=False, backward=False, weights=False),
}


def _gradient(dy: Tensor, x: Tensor, weight: Tensor, *, of_weight: bool = False) -> Tensor:
    """The library's gradient of a convolution, of its input or of its weights."""
    stride = x.shape[2] // dy.shape[2]
    found: Tensor = torch.ops.aten.convolution_backward(
        dy, x, weight, None, [stride] * 2, [1, 1], [1, 1], False, [0, 0], 1, [not of_weight, of_weight, False]
    )[of_weight]
    return found


def _count(norms: Sequence[nn.BatchNorm2d]) -> None:
    """One more batch seen by each."""
    torch._foreach_add_(
        [norm.num_batches_tracked for norm in norms if norm.num_batches_tracked is not None], 1
    )


class _Run(torch.autograd.Function):
    """Blocks of one width, one after the other; the first may halve the resolution."""

    @staticmethod
    def forward(
        ctx: Any, launch: Any, x: Tensor, norms: Sequence[nn.BatchNorm2d], *weights: Tensor
    ) -> Tensor:
        """norms: two a block; weights: of the convolutions and, for autograd, of the norms."""
        C = norms[0].num_features
        plan = PLANS[C]
        new = int(x.shape[1] != C)  # convolutions of another shape
        stacked = torch.stack(weights[new : len(norms)]).to(x.dtype)
        channels_last = stacked.permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3)
        convs = [*(weight.to(x.dtype) for weight in weights[:new]), *channels_last]
        ahead, back = arranged(stacked) if plan.forward or plan.backward else (stacked, stacked)
        ctx.launch, ctx.new, ctx.convs, ctx.back = launch, new, convs, [*convs[:new], *back]
        kept: list[Tensor] = [x]
        for i in range(0, len(norms), 2):
            halves = i < new
            if plan.forward and not halves:
                y1, parts = launch.convolve(x, ahead[i - new])
            else:
                y1 = F.conv2d(x, convs[i], stride=1 + halves, padding=1)
                parts = launch.squares(y1)
            pixels = y1.numel() // C
            norm1 = launch.settle(parts, norms[i], pixels)
            if plan.forward:
                a1 = y1  # relu(BN(y1)) is never stored
                y2, parts = launch.convolve(y1, ahead[i + 1 - new], norm=norm1)
            else:
                a1 = launch.activated(y1, norm1)
                y2 = F.conv2d(a1, convs[i + 1], padding=1)
                parts = launch.squares(y2)
            norm2 = launch.settle(parts, norms[i + 1], pixels)
            x = launch.activated(y2, norm2, launch.halved(x) if halves else x)
            kept += [y1, norm1, a1, y2, norm2, x]
        _count(norms)
        ctx.save_for_backward(*kept)
        return x

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Any:
        launch, new, convs = ctx.launch, ctx.new, ctx.convs
        x, *kept = ctx.saved_tensors
        blocks = [kept[i : i + 6] for i in range(0, len(kept), 6)]
        out = blocks[-1][5]
        C, count = out.shape[1], len(convs)
        plan, pixels = PLANS[C], out.numel() // C
        stats = {"dtype": blocks[0][1].dtype, "device": x.device}
        dw = torch.empty(count - new, C, 3, 3, C, **stats)
        dgamma, dbeta = torch.empty(2, count, C, **stats)
        first_dw: list[Tensor] = []

        def weigh(j: int, source: Tensor, dy: Tensor, norm: Tensor | None = None) -> None:
            if j < new:
                first_dw.append(_gradient(dy, source, convs[j], of_weight=True).to(dw.dtype))
            elif plan.weights:
                launch.weight_gradient(source, dy, dw[j - new], norm=norm)
            else:
                if norm is not None:
                    source = launch.activated(source, norm)
                dw[j - new].permute(0, 3, 1, 2).copy_(_gradient(dy, source, convs[j], of_weight=True))

        g = upstream[0].to(x.dtype).contiguous(memory_format=torch.channels_last)
        gz, parts = launch.below_relu(g, blocks[-1][3], act=out)
        for i in reversed(range(len(blocks))):
            y1, norm1, a1, y2, norm2, _ = blocks[i]
            first, second = 2 * i, 2 * i + 1
            pre = launch.settle_gradient(parts, norm2, pixels, dgamma[second], dbeta[second])
            dy = launch.through_norm(gz, y2, pre)
            if plan.backward:
                g, parts = launch.convolve_back(dy, ctx.back[second], y1, norm=norm1)
            else:
                g, parts = launch.below_relu(_gradient(dy, y1, convs[second]), y1, norm=norm1)
            weigh(second, a1, dy, norm1 if plan.forward else None)
            pre = launch.settle_gradient(parts, norm1, pixels, dgamma[first], dbeta[first])
            dy = launch.through_norm(g, y1, pre)
            before = blocks[i - 1][5] if i else x
            weigh(first, before, dy)
            if i and plan.backward:
                gz, parts = launch.convolve_back(dy, ctx.back[first], blocks[i - 1][3], act=before, skip=gz)
                continue
            g = _gradient(dy, before, convs[first])
            if i:
                gz, parts = launch.below_relu(g, blocks[i - 1][3], act=before, skip=gz)
            else:
                gz = launch.unhalved(gz, g) if new else g + gz
        return None, gz, None, *first_dw, *dw.permute(0, 1, 4, 2, 3), *dgamma, *dbeta


class _Norm(torch.autograd.Function):
    """relu(BN(y))."""

    @staticmethod
    def forward(ctx: Any, launch: Any, y: Tensor, norm: nn.BatchNorm2d, *weights: Tensor) -> Tensor:
        """weights: the norm's, for autograd."""
        found = launch.settle(launch.squares(y), norm, y.numel() // y.shape[1])
        _count([norm])
        ctx.launch = launch
        ctx.save_for_backward(y, found)
        out: Tensor = launch.activated(y, found)
        return out

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Any:
        y, found = ctx.saved_tensors
        g = upstream[0].to(y.dtype).contiguous(memory_format=torch.channels_last)
        g, parts = ctx.launch.below_relu(g, y, norm=found)
        dgamma, dbeta = torch.empty_like(found[:2])
        pre = ctx.launch.settle_gradient(parts, found, y.numel() // y.shape[1], dgamma, dbeta)
        return None, ctx.launch.through_norm(g, y, pre), None, dgamma, dbeta


def _launches() -> Any:
    from kinhash.models import fused_launch

    return fused_launch


def fits(norms: Sequence[nn.Module], x: Tensor) -> bool:
    """Whether our kernels can train a network of these norms on such pictures."""
    return (
        x.is_cuda
        and find_spec("triton") is not None
        and x.dtype in (torch.bfloat16, torch.float16)
        and x.shape[2] == x.shape[3] == SIDE
        and all(
            type(norm) is nn.BatchNorm2d and norm.affine and norm.momentum and norm.track_running_stats
            for norm in norms
        )
    )


def run(blocks: Sequence[Any], x: Tensor, launch: Any = None) -> Tensor:
    """The output of blocks with conv1, norm1, conv2, norm2; all but the first keep the shape."""
    norms = [norm for block in blocks for norm in (block.norm1, block.norm2)]
    convs = [conv.weight for block in blocks for conv in (block.conv1, block.conv2)]
    scales, shifts = [norm.weight for norm in norms], [norm.bias for norm in norms]
    x = x.contiguous(memory_format=torch.channels_last)
    out: Tensor = _Run.apply(launch or _launches(), x, norms, *convs, *scales, *shifts)  # type: ignore[no-untyped-call]
    return out


def norm_relu(y: Tensor, norm: nn.BatchNorm2d, launch: Any = None) -> Tensor:
    """`relu(norm(y))`."""
    y = y.contiguous(memory_format=torch.channels_last)
    out: Tensor = _Norm.apply(launch or _launches(), y, norm, norm.weight, norm.bias)  # type: ignore[no-untyped-call]
    return out
