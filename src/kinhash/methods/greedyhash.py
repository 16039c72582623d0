"""GreedyHash: a classifier on the signs themselves, whose gradient passes straight through.

Su et al.: Greedy Hash: Towards Fast Optimization for Accurate Hash Coding in CNN (NeurIPS 2018):

    L = CE(W sgn(u), y) + greedyhash_weight * mean_bj ||u_bj| - 1|^3,  d sgn(u) / du := 1

The second term keeps u near its signs. The paper's weight is .1 for CIFAR-10; u here comes from a batch norm.
Floats are compared by their cosine.
"""

from __future__ import annotations

from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class GreedyObjective(Objective):
    """Cross-entropy of a head that sees signs, and the distance of outputs from them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.weight = float(problem.parameters["greedyhash_weight"])
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "class" and "quantise"."""
        away = (outputs.z.abs() - 1).abs().pow(3).mean()
        return {"class": self.classify(outputs.logits, targets), "quantise": self.weight * away}


GREEDYHASH = Method(
    "a classifier on the signs, its gradient passed straight through them",
    GreedyObjective,
    paper="Su et al., NeurIPS",
    year=2018,
    formula="CE(W sgn u) + w ||u| - 1|^3, straight through sgn",
    metric="cosine",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "norm"},
    parameters={"greedyhash_weight": 0.1},
    reading="sign",
    shapes_by_class=True,
)
