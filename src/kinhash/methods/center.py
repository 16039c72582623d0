"""Center loss: features of a class gather around a centre that is learned with them.

Wen, Zhang, Li, Qiao: A Discriminative Feature Learning Approach for Deep Face Recognition (ECCV 2016):

    L = CE(W f, y) + center_weight * 1/2 mean_b |f_b - c_{y_b}|^2

f are the backbone's features; search is by their Euclidean distance. The weight is that of the comparison of Barz &
Denzler (WACV 2019). The centres are trained by the same optimiser as all else, where the paper moves them
towards the class means of the batch: the gradient is the same but for its rate. A mixed sample is drawn
to the mixture of its centres.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class CenterObjective(Objective):
    """Cross-entropy, and half the squared distance to the class centre."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.weight = float(problem.parameters["center_weight"])
        self.centres = nn.Parameter(torch.zeros(problem.classes, problem.width))
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "class" and "center"."""
        centres = targets.soft(len(self.centres), outputs.z.dtype) @ self.centres
        center = self.weight / 2 * (outputs.z - centres).square().sum(1).mean()
        return {"class": self.classify(outputs.logits, targets), "center": center}


CENTER = Method(
    "features gather around a learned centre for each class",
    CenterObjective,
    paper="Wen et al., ECCV",
    year=2016,
    formula="CE + w/2 |f - c_y|^2",
    retrieves="floats",
    metric="l2",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "features"},
    parameters={"center_weight": 0.1},
    shapes_by_class=True,
)
