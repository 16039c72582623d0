"""Manhattan distances between all outputs of a batch, without a B x B x d tensor in either direction."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_CHUNK = 1 << 22  # numbers in the largest temporary of the backward pass


class _Manhattan(torch.autograd.Function):
    """The gradient of |a - b| is a sign, so it is cheaper to recompute than to keep."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        ctx.save_for_backward(z)
        return torch.cdist(z, z, p=1).fill_diagonal_(0)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        """`dz_b = sum_b' (G[b, b'] + G[b', b]) sign(z_b - z_b')`, a few rows at a time."""
        (z,) = ctx.saved_tensors
        both = upstream[0] + upstream[0].T
        rows = max(1, _CHUNK // max(1, z.numel()))
        parts = [
            torch.einsum("ij,ijk->ik", both[i : i + rows], torch.sign(z[i : i + rows, None] - z[None]))
            for i in range(0, len(z), rows)
        ]
        return torch.cat(parts)


def manhattan(z: Tensor) -> Tensor:
    """(B, B) of `sum_k |z_bk - z_b'k|`, with gradients."""
    distances: Tensor = _Manhattan.apply(z)  # type: ignore[no-untyped-call]
    return distances
