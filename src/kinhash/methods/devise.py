"""DeViSE: pictures are mapped to the word vector of their class, nearer to it than to those of other classes.

Frome et al.: DeViSE: A Deep Visual-Semantic Embedding Model (NIPS 2013):

    L = mean_b sum_{j != y_b} relu(margin - v_{y_b} . f_b + v_j . f_b),   v unit vectors, f = M x

Search is by the cosine of f. Word vectors are given as `class_vectors`; otherwise they are made of the semantics, whose
distances their inner products follow. The paper starts from a trained classifier, with Adagrad; here M and
the backbone learn by the recipe that all methods share, from the weights that the backbone has.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.methods.mixing import over_classes
from kinhash.models.network import Outputs


class DeviseObjective(Objective):
    """The hinge over all other classes, and a class head that only reads f."""

    vectors: Tensor

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.margin = float(problem.parameters["devise_margin"])
        self.register_buffer("vectors", torch.nn.functional.normalize(problem.known_vectors()))
        self.read = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "devise" and "head"."""
        scores = outputs.z @ self.vectors.T

        def hinge(labels: Tensor) -> Tensor:
            own = scores.gather(1, labels[:, None])
            return (self.margin - own + scores).relu().sum(1) - self.margin  # j = y gives the margin itself

        return {"devise": over_classes(targets, hinge), "head": self.read(outputs.logits, targets)}


DEVISE = Method(
    "outputs lie nearer to the word vector of their class than to those of others",
    DeviseObjective,
    paper="Frome et al., NIPS",
    year=2013,
    formula="sum_j relu(.1 - v_y.f + v_j.f) - .1",
    retrieves="floats",
    metric="cosine",
    needs=frozenset({"labels", "vectors"}),
    recipe={**PLAIN, "activation": "linear"},
    parameters={"devise_margin": 0.1},
    width=lambda problem: problem.known_vectors().shape[1],
)
