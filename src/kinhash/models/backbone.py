"""What every backbone is: a module from a batch of pictures (or vectors) to one vector of `width` numbers per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from kinhash.data.preprocessing import Preprocessing


class Backbone(nn.Module):
    """(B, 3, h, w) normalised pictures, or (B, inputs) vectors where `preprocessing` is None -> (B, width).

    `name` and `options` are what `build_backbone` needs to make the same module again, without its weights.
    """

    def __init__(
        self,
        name: str,
        width: int,
        preprocessing: Preprocessing | None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self.width = width
        self.preprocessing = preprocessing
        self.options = dict(options or {})

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def card(self) -> dict[str, Any]:
        """Plain values from which `build_backbone(**card)` makes the same architecture."""
        return {"name": self.name, **self.options}


def initialise(module: nn.Module) -> None:
    """He's initialisation (fan-out, for ReLU) of every convolution; batch norms start as the identity."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
