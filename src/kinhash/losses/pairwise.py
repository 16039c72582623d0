"""Manhattan distances between all outputs of a batch, without a B x B x d tensor in either direction."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

_CHUNK = 1 << 22  # numbers in the largest temporary of the backward pass


class _BothSides(torch.autograd.Function):
    """Forward: the matrix itself. Backward: `G + G^T`, what one side of a symmetric matrix gets for both."""

    @staticmethod
    def forward(ctx: Any, distances: Tensor) -> Tensor:
        return distances.view_as(distances)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        return upstream[0] + upstream[0].T


class _Chunked(torch.autograd.Function):
    """The gradient of |a - b| is a sign, so it is cheaper to recompute than to keep."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        ctx.save_for_backward(z)
        return torch.cdist(z, z, p=1)

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
    """(B, B) of `sum_k |z_bk - z_b'k|`, with gradients.

    On a CPU `cdist` itself needs no large buffer in its backward pass, and D being symmetric only one of its two sides
    has to be differentiated. On a GPU that buffer is B x B x d, so the gradient is summed in chunks instead.
    """
    if z.device.type == "cpu":
        distances: Tensor = _BothSides.apply(torch.cdist(z, z.detach(), p=1))  # type: ignore[no-untyped-call]
        return distances
    return chunked(z)


def chunked(z: Tensor) -> Tensor:
    """`manhattan` for any device, in memory that does not depend on B x B x d."""
    distances: Tensor = _Chunked.apply(z)  # type: ignore[no-untyped-call]
    return distances


def distances(a: Tensor, b: Tensor, norm: float) -> Tensor:
    """(A, B) Minkowski distances between two sets, without gradients."""
    with torch.no_grad():
        if norm == 1 and runs_in_triton(a):
            from kinhash.losses import manhattan_triton

            return manhattan_triton.manhattan(a, b)[0]
        exact = "donot_use_mm_for_euclid_dist"  # the fast way misjudges near neighbours
        return torch.cdist(a, b, p=norm, compute_mode=exact)


def runs_in_triton(z: Tensor) -> bool:
    """Whether our kernels take these numbers."""
    return z.is_cuda and z.dtype == torch.float32 and _has_triton()


@cache
def _has_triton() -> bool:
    """Asked once: looking for a module walks the disk, and this runs in every step."""
    return find_spec("triton") is not None
