"""USDH: codes keep the cosines of pretrained features, without labels.

Jin: Unsupervised Semantic Deep Hashing (2018); of it only the abstract was at hand. With z in [-1, 1]^d:

    L = mean_{i != j} (z_i . z_j / d - cos(x_i, x_j))^2
      + usdh_binary * mean (|z| - 1)^2 + usdh_balance * mean_k (mean_b z_bk)^2

x are the embeddings that the network is given. Their weights, .1 and .1, are not in the abstract and were chosen. Its fourth
term, that turned pictures keep their code, needs pictures; where pictures become features here, each is there with its
mirror image. A class head, where there are labels, only reads the codes.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class UsdhObjective(Objective):
    """Cosines kept, near-binary outputs, balanced bits."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.binary = float(problem.parameters["usdh_binary"])
        self.balance = float(problem.parameters["usdh_balance"])
        self.read = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "cosine", "binary", "balance", and "head" where there are classes."""
        assert outputs.inputs is not None
        z, unit = outputs.z, normalize(outputs.inputs.to(outputs.z.dtype))
        difference = z @ z.T / z.shape[1] - unit @ unit.T
        pairs = len(z) * (len(z) - 1)
        others = 1 - torch.eye(len(z), dtype=z.dtype, device=z.device)
        terms = {
            "cosine": (difference.square() * others).sum() / pairs,
            "binary": self.binary * (z.abs() - 1).square().mean(),
            "balance": self.balance * z.mean(0).square().mean(),
        }
        if outputs.logits is not None:
            terms["head"] = self.read(outputs.logits, targets)
        return terms


USDH = Method(
    "codes keep the cosines of pretrained features; no labels",
    UsdhObjective,
    paper="Jin",
    year=2018,
    formula="(z_i.z_j/d - cos(x_i, x_j))^2 + a (|z| - 1)^2 + b mean(z)^2",
    retrieves="codes",
    needs=frozenset({"features"}),
    recipe=PLAIN,
    parameters={"usdh_binary": 0.1, "usdh_balance": 0.1},
)
