"""HashNet: likelihood of pairs under their inner products, with signs approached by ever steeper tanh.

Cao, Long, Wang, Yu: HashNet: Deep Learning to Hash by Continuation (ICCV 2017), with h = tanh(beta u), t_ij = a h_i . h_j:

    L = sum_ij w_ij (log(1 + exp t_ij) - s_ij t_ij) / |S|,  w = |S| / |S_1| for like pairs, |S| / |S_0| for unlike ones

a = .1 is our choice (the paper's falls with the bits). beta grows geometrically from 1 to `hashnet_beta` over the
training, where the paper raises it in stages. Pairs of a sample with itself are left out; a kind of pair that a batch lacks
counts nothing. u comes from a batch norm; floats are compared by their cosine.
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


class HashNetObjective(Objective):
    """The balanced likelihood of pairs, and a head that only reads."""

    beta: Tensor

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.classes = problem.classes
        self.scale = float(problem.parameters["hashnet_scale"])
        self.last = float(problem.parameters["hashnet_beta"])
        self.register_buffer("beta", torch.ones(()))
        self.classify = ClassificationLoss()

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """A steeper tanh."""
        self.beta.fill_(self.last ** (epoch / max(1, epochs - 1)))

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "pairs" and "head"."""
        with torch.autocast(outputs.z.device.type, enabled=False):
            h = torch.tanh(self.beta.to(outputs.z.dtype) * outputs.z)
            t = self.scale * h @ h.T
            pairs = balanced(F.softplus(-t), F.softplus(t), alike(targets, self.classes, h.dtype))
        return {"pairs": pairs, "head": self.classify(outputs.logits, targets)}


HASHNET = Method(
    "like pairs have large inner products, unlike ones small; tanh becomes sign",
    HashNetObjective,
    paper="Cao et al., ICCV",
    year=2017,
    formula="w (log(1 + e^t) - s t), t = a tanh(bu).tanh(bu')",
    metric="cosine",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "norm"},
    parameters={"hashnet_scale": 0.1, "hashnet_beta": 10.0},
)
