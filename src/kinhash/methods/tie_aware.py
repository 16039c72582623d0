"""Learning to rank by Hamming distance, ties included: average precision, or NDCG with graded relevance.

He, Cakir, Bargal, Sclaroff: Hashing as Tie-Aware Learning to Rank (CVPR 2018). With b = 2 sigmoid(gamma x) - 1 in place of
signs, distances D_ij = (d - b_i . b_j) / 2, c_k the (soft) number of items at distance k and c+_k that of relevant ones,
C and C+ their cumulative sums,

    AP   = 1/N+ sum_k c+_k (C+_{k-1} + C+_k + 1) / (C_{k-1} + C_k + 1)
    DCG  = sum_k G_k / c_k (S(C_k) - S(C_{k-1})),   S(n) = sum_{i=1}^n 1 / log2(i + 1)

G_k is the sum of the gains 2^(grades s) - 1 at distance k, s = 1 - semantic distance; S between whole numbers is linear;
NDCG divides by the DCG of the best order. Soft counts are triangles of width 1 around k. The losses are 1 - mean AP and
1 - mean NDCG. Gamma and gains are uncertain: gamma 2 on batch-normalised x (so b = tanh x), grades 3.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import ClassDistances, ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Need, Objective, Problem
from kinhash.models.network import Outputs

_TINY = 1e-12


class TieAwareObjective(Objective):
    """One minus the measure, mean over the samples of the batch that have something to find."""

    def __init__(self, problem: Problem, graded: bool) -> None:
        super().__init__()
        self.gamma = float(problem.parameters["sharpness"])
        self.grades = float(problem.parameters["grades"]) if graded else 0.0
        same = 1 - torch.eye(problem.classes)
        self.apart = ClassDistances(problem.known_distances() if graded else same)
        self.read = ClassificationLoss()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "ap" or "ndcg", and "head"."""
        b = torch.tanh(self.gamma / 2 * outputs.z)
        others = 1 - torch.eye(len(b), dtype=b.dtype, device=b.device)
        near = (1 - self.apart(targets)).to(b.dtype) * others
        distances = (b.shape[1] - b @ b.T) / 2
        items = histogram(distances, others, b.shape[1])
        head = self.read(outputs.logits, targets)
        if self.grades:
            gains = (torch.exp2(self.grades * near) - 1) * others
            found = ndcg(items, histogram(distances, gains, b.shape[1]), gains)
            return {"ndcg": 1 - found, "head": head}
        found = average_precision(items, histogram(distances, near, b.shape[1]))
        return {"ap": 1 - found, "head": head}


def histogram(distances: Tensor, weights: Tensor, bits: int) -> Tensor:
    """(B, bits + 1): the weights (B, B) at every whole distance, each shared by the two next to its distance."""
    below = distances.detach().floor().clamp(0, bits - 1)
    upper, place = weights * (distances - below), below.long()
    empty = distances.new_zeros(len(distances), bits + 1)
    return empty.scatter_add(1, place, weights - upper).scatter_add(1, place + 1, upper)


def average_precision(items: Tensor, hits: Tensor) -> Tensor:
    """Mean AP over queries, of the numbers of items and of relevant ones at every distance."""
    C, H = items.cumsum(1), hits.cumsum(1)
    terms = hits * (2 * H - hits + 1) / (2 * C - items + 1)
    return _mean(terms.sum(1), hits.sum(1))


def ndcg(items: Tensor, found: Tensor, gains: Tensor) -> Tensor:
    """Mean NDCG over queries, of the numbers of items and of the gains at every distance; `gains` (B, B) of all items."""
    C = items.cumsum(1)
    places = torch.arange(1, len(gains) + 1, dtype=items.dtype, device=items.device)
    discounts = 1 / torch.log2(places + 1)
    terms = found / items.clamp_min(_TINY) * (_summed(C, discounts) - _summed(C - items, discounts))
    ideal = (gains.sort(1, descending=True)[0] * discounts).sum(1)
    return _mean(terms.sum(1), ideal)


def _summed(n: Tensor, discounts: Tensor) -> Tensor:
    """S(n), linear between whole numbers."""
    table = torch.nn.functional.pad(discounts.cumsum(0), (1, 0))
    below = n.detach().floor().clamp(0, len(discounts) - 1).long()
    return table[below] + (n - below) * discounts[below]


def _mean(values: Tensor, largest: Tensor) -> Tensor:
    """Mean of values / largest over the rows where largest is not 0."""
    some = (largest > 0).to(values.dtype)
    return (some * values / largest.clamp_min(_TINY)).sum() / some.sum().clamp_min(1)


def _method(graded: bool) -> Method:
    needs: set[Need] = {"labels", "semantics"} if graded else {"labels"}
    return Method(
        f"ranks by Hamming distance, ties included, for the best {'NDCG' if graded else 'average precision'}",
        lambda problem: TieAwareObjective(problem, graded),
        paper="He et al., CVPR",
        year=2018,
        formula="1 - sum_k G_k/c_k (S(C_k) - S(C_k-1)) / DCG*"
        if graded
        else "1 - 1/N+ sum_k c+_k (C+_k-1 + C+_k + 1) / (C_k-1 + C_k + 1)",
        retrieves="codes",
        needs=frozenset(needs),
        recipe={**PLAIN, "activation": "norm"},
        parameters={"sharpness": 2.0} | ({"grades": 3.0} if graded else {}),
    )


TIE_AWARE: dict[str, Method] = {"tie-aware-ap": _method(False), "tie-aware-ndcg": _method(True)}
