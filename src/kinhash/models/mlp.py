"""Backbones for embeddings: a multi-layer perceptron, and none at all."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.models.backbone import Backbone


class MLP(Backbone):
    """Hidden layers `BN(x W) -> relu -> dropout` after a batch norm of the inputs, whose scale is unknown.

    `input_dropout` is the share of the inputs that are left out in training.
    """

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int] = (1024,),
        dropout: float = 0.0,
        input_dropout: float = 0.0,
    ) -> None:
        hidden = [int(width) for width in hidden]
        shares = (dropout, input_dropout)
        if inputs < 1 or not hidden or min(hidden) < 1 or not all(0 <= share < 1 for share in shares):
            raise InputError(
                f"an MLP needs inputs, hidden widths >= 1 and dropouts in [0, 1): {inputs}, {hidden}, {shares}"
            )
        options = {
            "inputs": inputs,
            "hidden": hidden,
            "dropout": dropout,
            "input_dropout": input_dropout,
        }
        super().__init__("mlp", hidden[-1], None, options)
        layers: list[nn.Module] = [nn.BatchNorm1d(inputs)]
        layers += [nn.Dropout(input_dropout)] if input_dropout else []
        for before, after in zip([inputs, *hidden], hidden, strict=False):
            layers += [nn.Linear(before, after, bias=False), nn.BatchNorm1d(after), nn.ReLU(inplace=True)]
            layers += [nn.Dropout(dropout)] if dropout else []
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Identity(Backbone):
    """Hands its input vectors on: the hash layer then works on the embeddings themselves."""

    def __init__(self, inputs: int) -> None:
        if inputs < 1:
            raise InputError(f"the number of inputs is at least 1, got {inputs}")
        super().__init__("none", inputs, None, {"inputs": inputs})

    def forward(self, x: Tensor) -> Tensor:
        return x
