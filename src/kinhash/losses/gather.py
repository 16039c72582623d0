"""One batch out of the batches of all processes, with gradients: pair losses need every pair."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from kinhash.feeding.targets import Targets


def world_size() -> int:
    """Processes that train together; 1 without torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


class _Gather(torch.autograd.Function):
    """Forward: the rows of all ranks, in rank order. Backward: the sum over ranks of the gradient of one's own rows.

    Every rank computes the same loss L of the joint batch, so the sum is `world x dL/dz`; averaging the
    parameters' gradients over ranks, as DistributedDataParallel does, then gives exactly that of the joint batch.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        ctx.rows = len(rows)
        return _all_rows(rows)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        total = upstream[0].contiguous().clone()
        dist.all_reduce(total)
        return total[dist.get_rank() * ctx.rows :][: ctx.rows]


def _all_rows(rows: Tensor) -> Tensor:
    parts = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, rows.contiguous())
    return torch.cat(parts)


def gather(z: Tensor) -> Tensor:
    """(world * B, d) of all ranks' z (B, d), with gradients; every rank must bring the same B."""
    if world_size() == 1:
        return z
    joint: Tensor = _Gather.apply(z)  # type: ignore[no-untyped-call]
    return joint


def gather_targets(targets: Targets) -> Targets:
    """The targets that belong to `gather(z)`."""
    if world_size() == 1:
        return targets
    return targets.map(_all_rows)


def from_first_rank(values: Tensor) -> Tensor:
    """Rank 0's values on every rank: random draws must agree where a joint loss is computed."""
    if world_size() > 1:
        dist.broadcast(values, 0)
    return values
