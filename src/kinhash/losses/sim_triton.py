"""SIM on a GPU: loss and gradient in three Triton kernels; nothing is larger than a B x B matrix, and there are two.

With `D = |z_b - z_b'|_1`, `m = mean D`, `S = sign(D/m - Y/mean Y) w`, the loss is `mean |D/m - Y/mean Y| w` and

    dL/dD = (S - mean(S D) / m) / (B^2 m),      dL/dz_b = sum_b' (dL/dD + dL/dD^T)_bb' sign(z_b - z_b').

The forward pass computes both, because what the backward pass needs is at hand there, and keeps dL/dz, (B, d).
Import this module only where Triton is installed.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kinhash.losses.manhattan_triton import TILE, manhattan

_SPLIT = 8  # a row's gradient is summed in so many parts


@triton.jit
def _compare(D, Y, means, errors, slopes, B, gamma, rho, TILE: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """Sums of `|D/m - Y/mean Y| w` and of `S D` over one tile; D becomes `S + S^T`."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (i < B)[:, None] & (j < B)[None, :]
    at = i[:, None].to(tl.int64) * B + j[None, :]
    distance = tl.load(D + at, mask=inside, other=0.0)
    target = tl.load(Y + at, mask=inside, other=0.0)
    across = tl.load(Y + j[None, :].to(tl.int64) * B + i[:, None], mask=inside, other=0.0)
    mean_D = tl.load(means)
    mean_Y = tl.load(means + 1)
    error = distance / mean_D - target / mean_Y
    mirror = distance / mean_D - across / mean_Y
    w = tl.exp(rho * tl.log(gamma / (gamma + target)))
    w_mirror = tl.exp(rho * tl.log(gamma / (gamma + across)))
    S = tl.where(error > 0, w, tl.where(error < 0, -w, 0.0))
    S_mirror = tl.where(mirror > 0, w_mirror, tl.where(mirror < 0, -w_mirror, 0.0))
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(errors + tile, tl.sum(tl.where(inside, tl.abs(error) * w, 0.0)))
    tl.store(slopes + tile, tl.sum(S * distance))  # distance is 0 outside
    tl.store(D + at, S + S_mirror, mask=inside)


@triton.jit
def _gradient(z, S2, shift, parts, B, d, TILE: tl.constexpr, WIDTH: tl.constexpr, SPLIT: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """`sum_j (S2[i, j] - 2 shift) sign(z_ik - z_jk)` over one part of the j, for TILE rows, WIDTH features."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    k = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    inside = (i < B)[:, None] & (k < d)[None, :]
    at = i[:, None] * d + k[None, :]
    own = tl.load(z + at, mask=inside, other=0.0)
    twice = 2 * tl.load(shift)
    total = tl.zeros((TILE, WIDTH), tl.float32)
    length = tl.cdiv(B, SPLIT)
    first = tl.program_id(1) * length
    for j in range(first, tl.minimum(first + length, B)):
        slope = tl.load(S2 + tl.cast(j, tl.int64) * B + i, mask=i < B, other=0.0) - twice  # S2 is symmetric
        other = tl.load(z + j * d + k, mask=k < d, other=0.0)
        difference = own - other[None, :]
        total += tl.where(difference > 0, slope[:, None], tl.where(difference < 0, -slope[:, None], 0.0))
    tl.store(parts + tl.program_id(1).to(tl.int64) * B * d + at, total, mask=inside)


def _loss_and_gradient(z: Tensor, Y: Tensor, gamma: float, rho: float) -> tuple[Tensor, Tensor]:
    B, d = z.shape
    tiles = -(-B // TILE)
    D, total = manhattan(z, z)
    sums = torch.empty(2, tiles, tiles, device=z.device)  # of |.| w, and of S D, tile by tile
    tiny = torch.finfo(torch.float32).tiny
    means = torch.stack([total.sum(dtype=torch.float64), Y.sum(dtype=torch.float64)]) / B**2
    means = means.clamp_min(tiny).float()
    _compare[(tiles, tiles)](D, Y, means, sums[0], sums[1], B, float(gamma), float(rho), TILE=TILE)
    error, slope = sums.sum((1, 2), dtype=torch.float64) / B**2
    shift = (slope / means[0]).float()
    width = min(64, max(16, triton.next_power_of_2(d)))
    parts = torch.empty(_SPLIT, B, d, device=z.device)
    grid = (tiles, _SPLIT, -(-d // width))
    _gradient[grid](z, D, shift, parts, B, d, TILE=TILE, WIDTH=width, SPLIT=_SPLIT)
    return error.float(), parts.sum(0) / (B**2 * means[0])


class _Similarity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, Y: Tensor, gamma: float, rho: float) -> Tensor:
        loss, gradient = _loss_and_gradient(z.contiguous(), Y, gamma, rho)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.saved_tensors[0] * upstream[0], None, None, None


def similarity(z: Tensor, Y: Tensor, gamma: float, rho: float) -> Tensor:
    """The same number and gradient as `sim.similarity` for float32 z (B, d); Y (B, B) gets no gradient."""
    loss: Tensor = _Similarity.apply(z, Y.float().contiguous(), gamma, rho)  # type: ignore[no-untyped-call]
    return loss
