"""`HashNetwork`: backbone, hash layer, and the small heads that the losses ask for."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone, freeze
from kinhash.models.hash_layer import Activation, HashLayer


class Outputs(NamedTuple):
    """What the network says about B samples."""

    z: Tensor  # (B, bits) float32 in [-1, 1]
    logits: Tensor | None  # (B, classes), where there are classes
    regression: Tensor | None  # (B, regression), where there is such a head


class HashNetwork(nn.Module):
    """x -> backbone -> hash layer z -> heads, which see z alone.

    `detach_head`: the classes are read off z without shaping it, for methods whose loss has no class term.
    `frozen`: the backbone keeps its weights and its batch statistics; only what follows it learns.
    """

    def __init__(
        self,
        backbone: Backbone | str,
        bits: int = 64,
        classes: int = 0,
        *,
        activation: Activation = "tanh",
        detach_head: bool = False,
        regression: int = 0,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        if classes < 0 or regression < 0:
            raise InputError(
                f"head widths are at least 0, got {classes} classes and {regression} regressands"
            )
        self.backbone = build_backbone(backbone) if isinstance(backbone, str) else backbone
        self.hash = HashLayer(self.backbone.width, bits, activation)
        self.classifier = nn.Linear(bits, classes) if classes else None
        self.regressor = nn.Linear(bits, regression) if regression else None
        self.bits, self.classes, self.detach_head, self.frozen = bits, classes, detach_head, frozen
        if frozen:
            freeze(self.backbone)

    def forward(self, x: Tensor) -> Outputs:
        if self.frozen:
            with torch.no_grad():
                features = self.backbone(x)
        else:
            features = self.backbone(x)
        return self.heads(self.hash(features))

    def heads(self, z: Tensor) -> Outputs:
        """The outputs of given hash-layer values z."""
        seen = z.detach() if self.detach_head else z
        logits = None if self.classifier is None else self.classifier(seen)
        return Outputs(z, logits, None if self.regressor is None else self.regressor(z))

    def train(self, mode: bool = True) -> HashNetwork:
        """As every module; a frozen backbone stays in evaluation mode."""
        super().train(mode)
        if self.frozen:
            self.backbone.eval()
        return self

    def card(self) -> dict[str, Any]:
        """Plain values from which the same network can be made."""
        return {
            "backbone": self.backbone.card(),
            "bits": self.bits,
            "classes": self.classes,
            "activation": self.hash.activation,
            "detach_head": self.detach_head,
            "regression": 0 if self.regressor is None else self.regressor.out_features,
            "frozen": self.frozen,
        }
