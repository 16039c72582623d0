"""OrthoHash: one cross-entropy over cosines with fixed, nearly orthogonal codes of the classes.

Hoe et al.: One Loss for All: Deep Hashing with a Single Cosine Similarity based Learning Objective (NeurIPS 2021), with
codes o_c in {-1, 1} of the classes:

    L = mean_b CE(s (cos(u_b, o_c) - m [c = y_b])_c, y_b)

u comes from a batch norm, so that bits are balanced. s = 8 and m = .2 are our choice (the paper scales with the code
length). The paper draws codes at random; `orthohash_centres="auto"` takes rows of a Hadamard matrix where
there are any. A mixed sample has its margin shared out and a mixed target. Floats are compared by their cosine.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.binary_targets import centres_of, check_centres
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs


class OrthoObjective(Objective):
    """Cross-entropy over scaled cosines with a margin, and a head that only reads."""

    centres: Tensor

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        codes = centres_of(problem, str(problem.parameters["orthohash_centres"]))
        self.register_buffer("centres", F.normalize(codes))
        self.scale = float(problem.parameters["orthohash_scale"])
        self.margin = float(problem.parameters["orthohash_margin"])
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "ortho" and "head"."""
        z = outputs.z
        shares = targets.soft(len(self.centres), z.dtype)
        with torch.autocast(z.device.type, enabled=False):
            cosines = F.normalize(z) @ self.centres.to(z.dtype).T
        chances = (self.scale * (cosines - self.margin * shares)).log_softmax(1)
        return {
            "ortho": -(shares * chances).sum(1).mean(),
            "head": self.classify(outputs.logits, targets),
        }


ORTHOHASH = Method(
    "a classifier whose class weights are fixed binary codes",
    OrthoObjective,
    paper="Hoe et al., NeurIPS",
    year=2021,
    formula="CE(s (cos(u, o) - m at y))",
    metric="cosine",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "norm"},
    parameters={"orthohash_scale": 8.0, "orthohash_margin": 0.2, "orthohash_centres": "random"},
    check=lambda problem: check_centres(problem, str(problem.parameters["orthohash_centres"])),
)
