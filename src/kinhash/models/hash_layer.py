"""The layer between features and what is retrieved with: hash layers give bounded numbers, float layers any."""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.arrays import checked_choice, is_whole
from kinhash.errors import InputError

Activation = Literal["tanh", "softsign", "straight-through", "norm", "linear", "unit", "features"]
_NORMED = ("tanh", "softsign", "straight-through", "norm")


class HashLayer(nn.Module):
    """`z = bound(BN(x W))`, with one bit [z_j >= 0] per output.

    The batch norm has no parameters of its own: each bit is set for about half of the samples, and the bound is
    neither saturated nor idle whatever the scale of the features. Bounds: `tanh`; `softsign` x / (1 + |x|), whose
    tails fall slowly; `straight-through` gives signs and passes on the gradient of tanh; `norm` has none.
    """

    def __init__(self, width: int, bits: int, activation: Activation = "tanh") -> None:
        super().__init__()
        _check(width, bits)
        checked_choice(activation, _NORMED, "activation")
        self.activation, self.width = activation, bits
        self.linear = nn.Linear(width, bits, bias=False)
        self.norm = nn.BatchNorm1d(bits, affine=False)

    def forward(self, features: Tensor) -> Tensor:
        """(B, width) -> float32 (B, bits)."""
        x = self.norm(self.linear(features).float())
        if self.activation == "norm":
            return x
        if self.activation == "softsign":
            return F.softsign(x)
        bounded = torch.tanh(x)
        if self.activation == "tanh":
            return bounded
        signs = torch.where(bounded >= 0, 1.0, -1.0)
        return signs + (bounded - bounded.detach())  # the bracket is exactly 0


class FloatLayer(nn.Module):
    """`z = x W + b` (`linear`), or that divided by its Euclidean length (`unit`)."""

    def __init__(self, width: int, outputs: int, activation: Activation = "linear") -> None:
        super().__init__()
        _check(width, outputs)
        self.activation, self.width = activation, outputs
        self.linear = nn.Linear(width, outputs)

    def forward(self, features: Tensor) -> Tensor:
        """(B, width) -> float32 (B, outputs)."""
        x = self.linear(features).float()
        return F.normalize(x) if self.activation == "unit" else x


class Features(nn.Module):
    """`z = x`: the features themselves."""

    activation: Activation = "features"

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, features: Tensor) -> Tensor:
        """(B, width) -> the same as float32."""
        return features.float()


Layer = HashLayer | FloatLayer | Features


def build_layer(width: int, outputs: int, activation: Activation) -> Layer:
    """The layer that `activation` names; "features" has as many outputs as inputs, whatever is asked."""
    checked_choice(activation, get_args(Activation), "activation")
    if activation == "features":
        return Features(width)
    if activation in _NORMED:
        return HashLayer(width, outputs, activation)
    return FloatLayer(width, outputs, activation)


def _check(width: int, outputs: int) -> None:
    if not is_whole(outputs) or outputs < 1 or width < 1:
        raise InputError(f"a hash layer needs at least one input and one bit, got {width} and {outputs}")
