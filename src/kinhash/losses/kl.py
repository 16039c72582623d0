"""KL: outputs spread like a near-binary target distribution (Arponen & Bishop 2020, L_KL; Wang et al. 2006)."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses.beta import draw, draw_table
from kinhash.losses.gather import from_first_rank
from kinhash.losses.pairwise import distances


class KLLoss(nn.Module):
    """`mean_b [ log nu(z_b; t) - log nu(z_b; z) ]`, nu = distance to the k-th nearest neighbour.

    The first is the cross-entropy against m fresh draws t of `2 Beta(a, a) - 1`, the second the entropy of the
    batch. `norm` is Manhattan (1) or Euclidean (2); scaling up outputs fools the second, not the first.
    `neighbours="other_class"` measures the entropy between classes only, so classmates do not repel each other.
    `scale="textbook"` is the estimator of the divergence itself, `d mean[...] + log(m / (n - 1))`: use a weight
    smaller by d. `floor` is added to every distance before the logarithm, so duplicates have finite gradients.
    """

    table: Tensor

    def __init__(
        self,
        *,
        a: float = 0.1,
        k: int = 1,
        norm: Literal[1, 2] = 1,
        draws: int = 1,
        floor: float = 0.1,
        neighbours: Literal["all", "other_class"] = "all",
        scale: Literal["paper", "textbook"] = "paper",
    ) -> None:
        super().__init__()
        if k < 1 or draws < 1 or floor <= 0 or norm not in (1, 2):
            raise InputError(
                f"k and draws are at least 1, floor is positive, norm 1 or 2; got {k, draws, floor, norm}"
            )
        if neighbours not in ("all", "other_class") or scale not in ("paper", "textbook"):
            raise InputError(f"unknown neighbours={neighbours!r} or scale={scale!r}")
        self.register_buffer("table", draw_table(a), persistent=False)
        self.k, self.norm, self.draws, self.floor = k, norm, draws, floor
        self.neighbours, self.scale = neighbours, scale

    def forward(self, z: Tensor, targets: Targets) -> Tensor:
        """Scalar divergence of the outputs z (B, d) in [-1, 1] from the target distribution."""
        if len(z) <= self.k:
            raise InputError(f"a batch of {len(z)} has no {self.k}-nearest neighbours; use a larger batch")
        with torch.autocast(z.device.type, enabled=False):
            z = z if z.dtype == torch.float64 else z.float()
            samples = from_first_rank(draw((self.draws * len(z), z.shape[1]), self.table)).to(z.dtype)
            return self.divergence(z, samples, targets)

    def divergence(self, z: Tensor, samples: Tensor, targets: Targets | None = None) -> Tensor:
        """The estimate for given draws (m, d) of the target distribution."""
        own = torch.eye(len(z), dtype=torch.bool, device=z.device)
        if self.neighbours == "other_class" and targets is not None:
            own = own | share_a_class(targets)
        to_samples, _ = self._kth(z, samples, None)
        to_batch, found = self._kth(z, z, own)  # a row of which every other is a classmate has no neighbour
        ratio = torch.log(to_samples + self.floor) - torch.log(to_batch + self.floor)
        estimate = (ratio * found).sum() / found.sum().clamp_min(1)
        if self.scale == "textbook":
            return z.shape[1] * estimate + math.log(len(samples) / (len(z) - 1))
        return estimate

    def _kth(self, z: Tensor, pool: Tensor, banned: Tensor | None) -> tuple[Tensor, Tensor]:
        """Distance (B,) of every z to its k-th nearest in `pool`, and whether there is one.

        The neighbour is chosen without gradient; only its one distance is computed again with it.
        """
        D = distances(z.detach(), pool.detach(), float(self.norm))
        if banned is not None:
            D.masked_fill_(banned, math.inf)
        value, index = D.kthvalue(self.k, dim=1) if self.k > 1 else D.min(dim=1)
        difference = z - pool[index]
        if self.norm == 1:
            return difference.abs().sum(1), value.isfinite().to(z.dtype)
        tiny = torch.finfo(z.dtype).tiny  # the root has no slope at 0
        return (difference.square().sum(1) + tiny).sqrt(), value.isfinite().to(z.dtype)


def share_a_class(targets: Targets) -> Tensor:
    """(B, B) whether two samples have a class in common: a mixed one has every class of which it holds a part."""
    labels, other, weight = targets.labels, targets.other, targets.weight
    if other is None or weight is None:
        return labels[:, None] == labels[None, :]
    held = [(labels, weight > 0), (other, weight < 1)]
    same = [
        (x[:, None] == y[None, :]) & has_x[:, None] & has_y[None, :] for x, has_x in held for y, has_y in held
    ]
    return torch.stack(same).any(0)
