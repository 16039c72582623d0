"""Label embedding network: soft targets for every class are learned beside the classifier that is trained on them.

Sun, Wei, Ren, Ma: Label Embedding Network (2017). With o1 the classifier's logits, o2 those of a second one that only reads
the features, E a learned (C, C) table that starts as the identity, and [.] numbers without gradient:

    L = b CE(o1, y) + (1 - b) CE(o1, [softmax E_y])
      + CE(o2, y) + m CE(E_y, [softmax(o2 / tau)]) + relu(p2_y - a),   p2 = softmax o2

m = 1 for samples that o2 classifies rightly; that term is the mean over these. What the comparison of Barz & Denzler
searches with is not said; here it is softmax(o1), by Euclidean distance.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kinhash.feeding.targets import Targets
from kinhash.methods.contract import UNMIXED, Fitting, Method, Objective, Problem
from kinhash.models.coders import Affine
from kinhash.models.network import Outputs


class LabelEmbeddingObjective(Objective):
    """All five terms; E and the second classifier learn here."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        own = problem.parameters
        self.balance = float(own["label_balance"])
        self.temperature = float(own["label_temperature"])
        self.limit = float(own["label_limit"])
        self.embedding = nn.Parameter(torch.eye(problem.classes))
        self.second = nn.Linear(problem.width, problem.classes)

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "class", "soft", "second", "embedding" and "limit"."""
        assert outputs.logits is not None
        first, labels = outputs.logits, targets.labels
        second = self.second(outputs.z.detach())
        row = self.embedding[labels]
        soft = row.detach().softmax(1)
        right = (second.argmax(1) == labels).to(first.dtype)
        taught = -((second.detach() / self.temperature).softmax(1) * row.log_softmax(1)).sum(1)
        sure = second.softmax(1).gather(1, labels[:, None])
        return {
            "class": self.balance * cross_entropy(first, labels),
            "soft": (1 - self.balance) * -(soft * first.log_softmax(1)).sum(1).mean(),
            "second": cross_entropy(second, labels),
            "embedding": (right * taught).sum() / right.sum().clamp_min(1),
            "limit": (sure - self.limit).relu().mean(),
        }


def _posterior(fitting: Fitting) -> Affine:
    return Affine.of(torch.eye(fitting.problem.classes), source="posterior")


LABEL_EMBEDDING = Method(
    "a classifier learns from soft targets that are learned with it",
    LabelEmbeddingObjective,
    paper="Sun et al.",
    year=2017,
    formula="b CE(o1, y) + (1-b) CE(o1, E_y) + CE(o2, y) + CE(E_y, o2/t) + relu(p2_y - a)",
    retrieves="floats",
    metric="l2",
    needs=frozenset({"labels"}),
    recipe={**UNMIXED, "activation": "features"},
    parameters={"label_balance": 0.5, "label_temperature": 2.0, "label_limit": 0.9},
    shapes_by_class=True,
    fit=_posterior,
)
