"""What a method is: an objective that turns outputs and targets into weighted, named terms.

An objective is an `nn.Module` with `forward(outputs: Outputs, targets: Targets) -> dict[str, Tensor]`. The sum of
the terms is minimised. Outputs and targets are those of the joint batch of all processes, so an objective
need not know how many there are. Its parameters are trained with the network's; its buffers are part of every
checkpoint. It must not wait for the device (`.item()`, `if tensor`), because a whole step is captured as one graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class LossOptions:
    """Weights and shapes of the losses; a method without a term ignores its options."""

    sim_weight: float = 1.0
    kl_weight: float = 0.001
    class_weight: float = 0.01
    reg_weight: float = 0.01
    marginal_weight: float = 0.0
    gamma: float = 0.1
    rho: float = 2.0
    beta: float = 0.1  # the target distribution is 2 Beta(beta, beta) - 1
    kl_neighbours: Literal["all", "other_class"] = "all"
    smoothing: float = 0.0  # share of a label that goes to other classes, the nearer the more
    smoothing_beta: float = 10.0


@dataclass(frozen=True)
class Problem:
    """What there is to learn, for `Method.build`."""

    bits: int
    options: LossOptions
    classes: int = 0
    distances: Tensor | None = None  # (C, C) semantic distances in [0, 1]; None: between target vectors
    target_width: int = 0  # of the target vectors to regress to
    class_vectors: Tensor | None = (
        None  # (C, target_width): target vectors of the classes, where samples bring none
    )
    seed: int = 0

    def generator(self) -> torch.Generator:
        """A source of random numbers for methods that draw fixed targets."""
        return torch.Generator().manual_seed(self.seed)


@dataclass(frozen=True)
class Method:
    """One line of the table of methods."""

    about: str
    build: Callable[[Problem], nn.Module]
    shapes_by_class: bool = (
        False  # the class head's gradient reaches the codes; else the head only reads them
    )
    regresses: bool = False  # there is a head that regresses to target vectors
    needs: frozenset[str] = field(default_factory=frozenset)  # "labels": cannot learn from captions alone
