"""The hash layer: a linear map to d numbers, each centred and scaled over the batch, then bounded to (-1, 1)."""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kinhash.arrays import checked_choice, is_whole
from kinhash.errors import InputError

Activation = Literal["tanh", "softsign", "straight-through"]


class HashLayer(nn.Module):
    """`z = bound(BN(x W))`, with one bit [z_j >= 0] per output.

    The batch norm has no parameters of its own: each bit is set for about half of the samples, and the bound is
    neither saturated nor idle whatever the scale of the features. Bounds: `tanh`; `softsign` x / (1 + |x|), whose
    tails fall slowly; `straight-through` gives signs and passes on the gradient of tanh.
    """

    def __init__(self, width: int, bits: int, activation: Activation = "tanh") -> None:
        super().__init__()
        if not is_whole(bits) or bits < 1 or width < 1:
            raise InputError(f"a hash layer needs at least one input and one bit, got {width} and {bits}")
        checked_choice(activation, get_args(Activation), "activation")
        self.activation = activation
        self.linear = nn.Linear(width, bits, bias=False)
        self.norm = nn.BatchNorm1d(bits, affine=False)

    def forward(self, features: Tensor) -> Tensor:
        """(B, width) -> float32 (B, bits)."""
        x = self.norm(self.linear(features).float())
        if self.activation == "softsign":
            return F.softsign(x)
        bounded = torch.tanh(x)
        if self.activation == "tanh":
            return bounded
        signs = torch.where(bounded >= 0, 1.0, -1.0)
        return signs + (bounded - bounded.detach())  # the bracket is exactly 0
