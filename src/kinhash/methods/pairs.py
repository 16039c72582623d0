"""What methods over pairs of samples share: which pairs are alike, and a mean in which both kinds count the same."""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.feeding.targets import Targets


def alike(targets: Targets, classes: int, dtype: torch.dtype) -> Tensor:
    """(B, B) chance that two samples share a class: 0 or 1, between them for mixed samples."""
    shares = targets.soft(classes, dtype)
    return shares @ shares.T


def balanced(positive: Tensor, negative: Tensor, same: Tensor) -> Tensor:
    """`sum_ij w_ij l_ij / |S|` over pairs i != j, l = `positive` where s = 1, `negative` where s = 0.

    w = |S| / |S_1| and |S| / |S_0|: the mean over like pairs plus the mean over unlike ones. A kind that does not occur
    counts nothing.
    """
    other = 1 - torch.eye(len(same), dtype=same.dtype, device=same.device)
    like, unlike = same * other, (1 - same) * other
    least = torch.finfo(same.dtype).eps
    means = [
        (loss * kind).sum() / kind.sum().clamp_min(least)
        for loss, kind in ((positive, like), (negative, unlike))
    ]
    return means[0] + means[1]
