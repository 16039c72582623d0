"""Spreading vectors: neighbours stay neighbours on a sphere that the outputs fill evenly, without labels.

Sablayrolles, Douze, Schmid, Jegou: Spreading vectors for similarity search (ICLR 2019). With f on the unit sphere,

    L = mean_b relu(|f_b - f_p(b)| - |f_b - f_n(b)|) - lambda mean_b log rho_b,   rho_b = min_{i != b} |f_b - f_i|

p(b): a near neighbour of x_b, n(b): a less near one of f_b. The paper takes one of the first 10 and the 50th of the whole
training set; here they are the first and the 5th of the batch, which needs no search beside the
training. lambda is .02 to .05 there; .02. Codes are signs: the paper's better half, the lattice, makes no bits. A class
head, where there are labels, only reads the outputs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs

_FLOOR = 1e-6  # below any distance of different points: the logarithm of duplicates stays finite


class SpreadingObjective(Objective):
    """Triplets by rank, and the entropy of Kozachenko and Leonenko."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.spread = float(problem.parameters["spread_weight"])
        self.rank = int(problem.parameters["negative_rank"])
        self.read = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "triplet", "spread", and "head" where there are classes."""
        assert outputs.inputs is not None
        f = outputs.z
        near = _others(outputs.inputs.detach()).argmin(1)
        order = _others(f.detach()).argsort(1)  # oneself is last
        negative = order[:, min(self.rank, len(f) - 1) - 1]
        triplet = (_length(f - f[near]) - _length(f - f[negative])).relu().mean()
        rho = _length(f - f[order[:, 0]])
        terms = {"triplet": triplet, "spread": -self.spread * (rho + _FLOOR).log().mean()}
        if outputs.logits is not None:
            terms["head"] = self.read(outputs.logits, targets)
        return terms


def _others(x: Tensor) -> Tensor:
    """(B, B) Euclidean distances without gradients, to oneself infinite."""
    return torch.cdist(x, x).fill_diagonal_(torch.inf)


def _length(x: Tensor) -> Tensor:
    """(B,) Euclidean lengths, with a slope at 0."""
    return (x.square().sum(1) + torch.finfo(x.dtype).tiny).sqrt()


SPREADING = Method(
    "neighbours stay neighbours on a sphere that is filled evenly; no labels",
    SpreadingObjective,
    paper="Sablayrolles et al., ICLR",
    year=2019,
    formula="relu(|f - f_p| - |f - f_n|) - lambda mean log min_i |f - f_i|",
    metric="l2",
    needs=frozenset({"features"}),
    recipe={**PLAIN, "activation": "unit"},
    parameters={"spread_weight": 0.02, "negative_rank": 5},
)
