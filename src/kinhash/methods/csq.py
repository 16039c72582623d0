"""Central similarity: every bit learns the bit of its class's centre.

Yuan et al.: Central Similarity Quantization for Efficient Image and Video Retrieval (CVPR 2020), with h = (1 + z) / 2 and
the centre c of the class in {-1, 1}:

    L = mean_bj -[(1 + c)/2 log h + (1 - c)/2 log(1 - h)] + csq_weight * mean_bj (|z| - 1)^2

Centres are rows of a Hadamard matrix where the code length is a power of two and at least half the number of classes, else
random with half of their bits set (the paper's fallback draws every bit by itself). The paper quantises with log
cosh(|z| - 1), which is half the square near 0; its weight is 1e-4. A mixed sample aims at the mixture of its centres.
"""

from __future__ import annotations

from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.binary_targets import aims, centres_of, check_centres
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.models.network import Outputs

_FLOOR = 1e-6  # below this a logarithm is not followed


class CentralObjective(Objective):
    """Cross-entropy of bits with those of the centres, distance from +-1, and a head that only reads."""

    centres: Tensor

    def __init__(self, centres: Tensor, weight: float) -> None:
        super().__init__()
        self.register_buffer("centres", centres)
        self.weight = weight
        self.classify = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "central", "quantise" and "head"."""
        z = outputs.z
        h, c = (1 + z) / 2, (1 + aims(targets, self.centres, z.dtype)) / 2
        bits = -(c * (h + _FLOOR).log() + (1 - c) * (1 - h + _FLOOR).log())
        return {
            "central": bits.mean(),
            "quantise": self.weight * (z.abs() - 1).square().mean(),
            "head": self.classify(outputs.logits, targets),
        }


def _build(problem: Problem) -> CentralObjective:
    centres = centres_of(problem, str(problem.parameters["csq_centres"]))
    return CentralObjective(centres, float(problem.parameters["csq_weight"]))


CSQ = Method(
    "codes gather around centres that lie half of the bits apart",
    _build,
    paper="Yuan et al., CVPR",
    year=2020,
    formula="BCE(h, Hadamard centre of y) + w (|z| - 1)^2",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "tanh"},
    parameters={"csq_weight": 1e-4, "csq_centres": "auto"},
    check=lambda problem: check_centres(problem, str(problem.parameters["csq_centres"])),
)
