"""Coders: what makes representations of a network's outputs without being trained by gradients.

A coder is fitted once, after the training, in closed form. Its numbers are buffers of the network, so they are saved,
exported and moved with it; its card says how to make the same coder again, without its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from kinhash.arrays import checked_choice
from kinhash.errors import InputError

Source = Literal["z", "posterior"]


class Coder(nn.Module):
    """(z, logits) -> (B, width), whose signs are the codes where codes are wanted."""

    kind: str
    width: int

    def forward(self, z: Tensor, logits: Tensor | None) -> Tensor:
        raise NotImplementedError

    def card(self) -> dict[str, Any]:
        """`kind`, and plain values for the constructor."""
        raise NotImplementedError


class Affine(Coder):
    """`r = (s - mean) W`, s = z or the class posterior p = softmax(logits)."""

    kind = "affine"
    weight: Tensor
    mean: Tensor

    def __init__(self, inputs: int, width: int, source: Source = "z") -> None:
        super().__init__()
        checked_choice(source, ("z", "posterior"), "source")
        self.inputs, self.width, self.source = int(inputs), int(width), source
        self.register_buffer("weight", torch.zeros(self.inputs, self.width))
        self.register_buffer("mean", torch.zeros(self.inputs))

    @classmethod
    def of(cls, weight: Any, mean: Any = None, source: Source = "z") -> Affine:
        """The coder with this (inputs, width) weight and (inputs,) mean."""
        inputs, width = weight.shape
        made = cls(inputs, width, source)
        made.weight.copy_(torch.as_tensor(weight))
        if mean is not None:
            made.mean.copy_(torch.as_tensor(mean))
        return made

    def forward(self, z: Tensor, logits: Tensor | None) -> Tensor:
        if self.source == "z":
            return (z.float() - self.mean) @ self.weight
        assert logits is not None, "a posterior needs a classifier"
        return (logits.float().softmax(1) - self.mean) @ self.weight

    def card(self) -> dict[str, Any]:
        return {"kind": self.kind, "inputs": self.inputs, "width": self.width, "source": self.source}


class Lookup(Coder):
    """`r = rows[argmax_c logits_c]`: one row for every class."""

    kind = "lookup"
    rows: Tensor

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        self.classes, self.width = int(classes), int(width)
        self.register_buffer("rows", torch.zeros(self.classes, self.width))

    @classmethod
    def of(cls, rows: Any) -> Lookup:
        """The coder with these (C, width) rows."""
        made = cls(*rows.shape)
        made.rows.copy_(torch.as_tensor(rows))
        return made

    def forward(self, z: Tensor, logits: Tensor | None) -> Tensor:
        assert logits is not None, "the predicted class needs a classifier"
        return self.rows[logits.argmax(1)]

    def card(self) -> dict[str, Any]:
        return {"kind": self.kind, "classes": self.classes, "width": self.width}


CODERS: dict[str, type[Coder]] = {kind.kind: kind for kind in (Affine, Lookup)}


def coder_from_card(card: Mapping[str, Any] | None) -> Coder | None:
    """The coder that `Coder.card` describes, with empty buffers."""
    if card is None:
        return None
    options = dict(card)
    kind = options.pop("kind", None)
    if kind not in CODERS:
        raise InputError(f"there is no coder {kind!r}; this kinhash knows {', '.join(CODERS)}")
    return CODERS[kind](**options)
