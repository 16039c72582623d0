"""CLASS: cross-entropy of a small head's logits."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets


class ClassificationLoss(nn.Module):
    """`- mean_b sum_c q_bc log softmax(logits_b)_c`, q = the class shares of the sample.

    `smoothing` (C, C), rows summing to 1, replaces each class by a distribution over classes
    (`hierarchical_smoothing`, or the uniform one).
    """

    smoothing: Tensor | None

    def __init__(self, smoothing: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("smoothing", smoothing, persistent=False)

    def forward(self, logits: Tensor, targets: Targets) -> Tensor:
        """Scalar cross-entropy of the logits (B, C)."""
        if len(logits) != len(targets):
            raise InputError(f"{len(logits)} rows of logits do not fit {len(targets)} targets")
        with torch.autocast(logits.device.type, enabled=False):
            logits = logits if logits.dtype == torch.float64 else logits.float()
            shares = targets.soft(logits.shape[1])
            if self.smoothing is not None:
                shares = shares @ self.smoothing
            return -(shares.to(logits.dtype) * logits.log_softmax(dim=1)).sum(1).mean()
