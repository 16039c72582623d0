"""A moving average of the weights, which serves better than the last weights do (Polyak & Juditsky 1992)."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class MovingAverage:
    """`average <- d average + (1 - d) weights` after every step t (from 1), `d = min(decay, t / (t + 9))`.

    The ramp lets a short run forget its random start. Running statistics of batch norm are averaged as well;
    counters are copied. The average lives in `network`, a copy that is ready to evaluate.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.decay = decay
        source, target = network.state_dict(keep_vars=True), self.network.state_dict(keep_vars=True)
        floating = [name for name, value in target.items() if value.is_floating_point()]
        self._from, self._to = [source[n] for n in floating], [target[n] for n in floating]
        counters = [name for name in target if name not in set(floating)]
        self._counted: list[Tensor] = [source[n] for n in counters]
        self._counters: list[Tensor] = [target[n] for n in counters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move towards the weights after step `step`, counted from 1."""
        weight = 1 - min(self.decay, step / (step + 9))
        torch._foreach_lerp_(self._to, self._from, weight)
        if self._counters:  # all at once: a deep network has a hundred of them, and each copy is a launch
            torch._foreach_copy_(self._counters, self._counted)
