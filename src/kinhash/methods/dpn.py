"""Polarisation: every output leaves zero on the side of its class's target bit.

Fan et al.: Deep Polarized Network for Supervised Learning of Accurate Binary Hashing Codes (IJCAI 2020), with targets t in
{-1, 1}, one code per class:

    L = mean_bj max(0, m - u_bj t_bj)

u are unbounded outputs (here behind a batch norm). The paper draws the bits of the targets at random and sums over bits; the
mean only rescales. `dpn_centres="auto"` takes rows of a Hadamard matrix instead, where there are any. The margin m = 1
is our choice. A mixed sample aims at the mixture of its targets. Floats are compared by their cosine.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.binary_targets import aims, centres_of, check_centres
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class PolarObjective(Objective):
    """The hinge on every output, and a head that only reads."""

    centres: Tensor

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.register_buffer("centres", centres_of(problem, str(problem.parameters["dpn_centres"])))
        self.margin = float(problem.parameters["dpn_margin"])
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "polar" and "head"."""
        agreement = outputs.z * aims(targets, self.centres, outputs.z.dtype)
        return {
            "polar": torch.relu(self.margin - agreement).mean(),
            "head": self.classify(outputs.logits, targets),
        }


DPN = Method(
    "every output leaves zero on the side of its class's random bit",
    PolarObjective,
    paper="Fan et al., IJCAI",
    year=2020,
    formula="mean max(0, m - u t_y)",
    metric="cosine",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "norm"},
    parameters={"dpn_margin": 1.0, "dpn_centres": "random"},
    check=lambda problem: check_centres(problem, str(problem.parameters["dpn_centres"])),
)
