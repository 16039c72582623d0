"""Losses of one class, on samples that CutMix or MixUp made of two."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from kinhash.feeding.targets import Targets


def over_classes(targets: Targets, loss: Callable[[Tensor], Tensor]) -> Tensor:
    """`mean_b w_b loss_b(y_b) + (1 - w_b) loss_b(y'_b)`; `loss` gives (B,) values for class numbers (B,)."""
    own = loss(targets.labels)
    if targets.other is None or targets.weight is None:
        return own.mean()
    share = targets.weight.to(own.dtype)
    return (share * own + (1 - share) * loss(targets.other)).mean()
