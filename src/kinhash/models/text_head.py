"""`TextHead`: from the vector of a sentence to a code in the space of the pictures' codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from kinhash.models.hash_layer import Activation, build_layer
from kinhash.models.mlp import MLP


class TextHead(nn.Module):
    """(B, inputs) sentence vectors -> `MLP` -> hash layer -> (B, bits).

    `encoder` is the name of the sentence encoder whose vectors it takes, and travels with it.
    """

    def __init__(
        self,
        inputs: int,
        bits: int,
        hidden: Sequence[int] = (1024,),
        dropout: float = 0.0,
        activation: Activation = "tanh",
        encoder: str = "",
        input_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.mlp = MLP(inputs, hidden, dropout, input_dropout)
        self.hash = build_layer(self.mlp.width, bits, activation)
        self.inputs, self.bits, self.activation, self.encoder = int(inputs), int(bits), activation, encoder

    def forward(self, vectors: Tensor) -> Tensor:
        return self.hash(self.mlp(vectors))

    def card(self) -> dict[str, Any]:
        """Plain values from which the same head can be made."""
        return {
            "inputs": self.inputs,
            "bits": self.bits,
            "hidden": list(self.mlp.options["hidden"]),
            "dropout": self.mlp.options["dropout"],
            "activation": self.activation,
            "encoder": self.encoder,
            "input_dropout": self.mlp.options["input_dropout"],
        }


def text_head_from_card(card: Mapping[str, Any] | None) -> TextHead | None:
    """The head that `TextHead.card` describes, with random weights."""
    return None if card is None else TextHead(**card)
