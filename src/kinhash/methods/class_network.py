"""A plain classifier, for methods that make codes of what it predicts."""

from __future__ import annotations

from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import Objective, Problem
from kinhash.models.network import Outputs


class ClassNetwork(Objective):
    """Cross-entropy of the class head on the features."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """The term "class"."""
        return {"class": self.classify(outputs.logits, targets)}
