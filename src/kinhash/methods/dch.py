"""Deep Cauchy hashing: like pairs within a small Hamming ball, by a heavy-tailed likelihood.

Cao, Long, Liu, Wang: Deep Cauchy Hashing for Hamming Space Retrieval (CVPR 2018), with D = bits/2 (1 - cos):

    L = sum_ij w_ij (s_ij log(D_ij / g) + log(1 + g / D_ij)) / |S| + dch_weight * mean_i log(1 + D(|z_i|, 1) / g)

w balances like and unlike pairs as in HashNet. For like pairs the first is log(1 + D / g), which needs no floor; for
unlike ones D is at least `dch_floor`. g = 20 and the weight .1 are our choice; the paper chooses both by validation.
Pairs of a sample with itself are left out; mixed samples are partly alike.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.methods.pairs import alike, balanced
from kinhash.models.network import Outputs


class CauchyObjective(Objective):
    """The balanced Cauchy likelihood of pairs, that of quantisation, and a head that only reads."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.classes = problem.classes
        self.gamma = float(problem.parameters["dch_gamma"])
        self.weight = float(problem.parameters["dch_weight"])
        self.floor = float(problem.parameters["dch_floor"])
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "pairs", "quantise" and "head"."""
        z, half = outputs.z, outputs.z.shape[1] / 2
        with torch.autocast(z.device.type, enabled=False):
            unit = F.normalize(z)
            D = (half * (1 - unit @ unit.T)).clamp_min(0)
            unlike = torch.log1p(self.gamma / (D + self.floor))
            pairs = balanced(torch.log1p(D / self.gamma), unlike, alike(targets, self.classes, z.dtype))
            cosine = unit.abs().sum(1) / z.shape[1] ** 0.5  # of |z| and (1, ..., 1)
            away = torch.log1p(half * (1 - cosine) / self.gamma).mean()
        return {
            "pairs": pairs,
            "quantise": self.weight * away,
            "head": self.classify(outputs.logits, targets),
        }


DCH = Method(
    "like pairs lie within a small Hamming ball, by a Cauchy likelihood",
    CauchyObjective,
    paper="Cao et al., CVPR",
    year=2018,
    formula="w (s log(D/g) + log(1 + g/D)) + v log(1 + D(|z|, 1)/g), D = bits/2 (1 - cos)",
    metric="cosine",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "tanh"},
    parameters={"dch_gamma": 20.0, "dch_weight": 0.1, "dch_floor": 1e-3},
)
