"""`HashNetwork`: backbone, hash layer, the small heads that the losses ask for, and a coder fitted afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.arrays import checked_choice
from kinhash.errors import InputError
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone, freeze
from kinhash.models.coders import Coder, coder_from_card
from kinhash.models.hash_layer import Activation, build_layer
from kinhash.models.text_head import text_head_from_card

Reading = Literal["linear", "relu-norm", "sign"]


class Outputs(NamedTuple):
    """What the network says about B samples."""

    z: Tensor  # (B, width) float32; in [-1, 1] behind a bounded hash layer
    logits: Tensor | None  # (B, classes), where there are classes
    regression: Tensor | None  # (B, regression), where there is such a head
    inputs: Tensor | None = (
        None  # (B, inputs), the embeddings themselves; None where the network takes pictures
    )
    text: Tensor | None = None  # (B, width) of one sentence per sample, where a text head is trained


class HashNetwork(nn.Module):
    """x -> backbone -> hash layer z -> heads, which see z alone.

    `bits`: of the codes, 0 where there are none. `width`: of z, by default that of the codes.
    `detach_head`: the classes are read off z without shaping it, for methods whose loss has no class term.
    `reading`: how the class head sees z: as it is, through "relu-norm" (ReLU, batch norm), or its signs, with the
    gradient of the identity. `unit`: what is retrieved with is divided by its length.
    `coder`: the card of one of `kinhash.models.coders`.
    `text`: card of the head that gives sentences codes in the same space.
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
        width: int | None = None,
        reading: Reading = "linear",
        unit: bool = False,
        coder: Mapping[str, Any] | None = None,
        text: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if classes < 0 or regression < 0:
            raise InputError(
                f"head widths are at least 0, got {classes} classes and {regression} regressands"
            )
        self.backbone = build_backbone(backbone) if isinstance(backbone, str) else backbone
        self.hash = build_layer(self.backbone.width, bits if width is None else width, activation)
        self.classifier = _classifier(self.hash.width, classes, reading) if classes else None
        self.regressor = nn.Linear(self.hash.width, regression) if regression else None
        self.coder: Coder | None = coder_from_card(coder)
        self.text = text_head_from_card(text)
        self.bits, self.classes, self.detach_head, self.frozen = bits, classes, detach_head, frozen
        self.reading, self.unit = reading, unit
        if frozen:
            freeze(self.backbone)

    @property
    def width(self) -> int:
        """Of what `floats` gives."""
        return self.hash.width if self.coder is None else self.coder.width

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

    def floats(self, x: Tensor) -> Tensor:
        """(B, width) float32: what is retrieved with, and whose signs are the codes."""
        outputs = self(x)
        made = outputs.z if self.coder is None else self.coder(outputs.z, outputs.logits)
        return F.normalize(made) if self.unit else made

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
            "width": None if self.hash.width == self.bits else self.hash.width,
            "reading": self.reading,
            "unit": self.unit,
            "coder": None if self.coder is None else self.coder.card(),
            "text": None if self.text is None else self.text.card(),
        }


class _Sign(nn.Module):
    """Signs, with the gradient of the identity."""

    def forward(self, z: Tensor) -> Tensor:
        return torch.where(z >= 0, 1.0, -1.0) + (z - z.detach())


def _classifier(width: int, classes: int, reading: Reading) -> nn.Module:
    checked_choice(reading, ("linear", "relu-norm", "sign"), "reading")
    linear = nn.Linear(width, classes)
    if reading == "relu-norm":
        return nn.Sequential(nn.ReLU(), nn.BatchNorm1d(width), linear)
    return nn.Sequential(_Sign(), linear) if reading == "sign" else linear
