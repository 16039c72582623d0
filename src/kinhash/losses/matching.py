"""MATCH: every picture finds its own sentence among those of the batch, and every sentence its picture."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.errors import InputError


class MatchingLoss(nn.Module):
    """`(CE(s cos(z, t), own) + CE(s cos(t, z), own)) / 2`, InfoNCE over two kinds of outputs (van den Oord et al. 2018).

    On near-binary outputs the cosine is `1 - 2 Hamming / d`. The scale s is learned, as its logarithm.
    """

    def __init__(self, scale: float = 10.0) -> None:
        super().__init__()
        if scale <= 0:
            raise InputError(f"the scale of the cosines is positive, got {scale}")
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def forward(self, z: Tensor, text: Tensor) -> Tensor:
        """Scalar loss of pictures z (B, d) and their sentences (B, d)."""
        if z.shape != text.shape:
            raise InputError(
                f"{tuple(z.shape)} outputs of pictures do not fit {tuple(text.shape)} of sentences"
            )
        with torch.autocast(z.device.type, enabled=False):
            logits = self.log_scale.exp() * (F.normalize(z.float()) @ F.normalize(text.float()).T)
            own = torch.arange(len(z), device=z.device)
            return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2
