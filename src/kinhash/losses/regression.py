"""REG: a head's output regresses to the embedding of the target, a caption's for example."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets


class RegressionLoss(nn.Module):
    """`mean_b (1 - cos(f_b, v_b))` (kind "cosine") or `mean_bk (f_bk - v_bk)^2` (kind "squared")."""

    def __init__(self, kind: Literal["cosine", "squared"] = "cosine") -> None:
        super().__init__()
        if kind not in ("cosine", "squared"):
            raise InputError(f"kind is 'cosine' or 'squared', got {kind!r}")
        self.kind = kind

    def forward(self, predicted: Tensor, targets: Targets) -> Tensor:
        """Scalar error of the predictions (B, D)."""
        if targets.vectors is None or targets.vectors.shape != predicted.shape:
            got = "none" if targets.vectors is None else f"shape {tuple(targets.vectors.shape)}"
            raise InputError(f"regression to shape {tuple(predicted.shape)} needs target vectors, got {got}")
        with torch.autocast(predicted.device.type, enabled=False):
            predicted = predicted if predicted.dtype == torch.float64 else predicted.float()
            vectors = targets.vectors.to(predicted.dtype)
            if self.kind == "squared":
                return (predicted - vectors).square().mean()
            return (1 - nn.functional.cosine_similarity(predicted, vectors, dim=1)).mean()
