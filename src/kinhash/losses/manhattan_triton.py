"""Manhattan distances between two sets on a GPU: one Triton kernel, a tile of pairs at a time, nothing but the matrix.

Import this module only where Triton is installed.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 64  # rows and columns in a tile of pairs


@triton.jit
def _distances(a_t, b_t, D, sums, A, B, d, TILE: tl.constexpr):  # type: ignore[no-untyped-def]  # a kernel
    """`D[i, j] = sum_k |a_ik - b_jk|` of one tile, and its sum; a_t is (d, A), b_t is (d, B)."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(d):
        a = tl.load(a_t + k * A + i, mask=i < A, other=0.0)
        b = tl.load(b_t + k * B + j, mask=j < B, other=0.0)
        total += tl.abs(a[:, None] - b[None, :])
    inside = (i < A)[:, None] & (j < B)[None, :]
    tl.store(D + i[:, None].to(tl.int64) * B + j[None, :], total, mask=inside)
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(sums + tile, tl.sum(tl.where(inside, total, 0.0)))


def manhattan(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """(A, B) distances between float32 a (A, d) and b (B, d), without gradients, and their sums tile by tile."""
    (A, d), B = a.shape, len(b)
    grid = (-(-A // TILE), -(-B // TILE))
    D = torch.empty(A, B, device=a.device)
    sums = torch.empty(grid, device=a.device)
    _distances[grid](a.T.contiguous(), b.T.contiguous(), D, sums, A, B, d, TILE=TILE)
    return D, sums
