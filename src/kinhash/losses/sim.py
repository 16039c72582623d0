"""SIM: distances between outputs follow the distances between their targets (Arponen & Bishop 2020, L_sim)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses.pairwise import manhattan, runs_in_triton


class SimilarityLoss(nn.Module):
    """`mean_bb' | D_bb' / mean(D) - Y_bb' / mean(Y) | w_bb'`, `w = gamma^rho / (gamma + Y)^rho`.

    D are the Manhattan distances of the outputs, Y in [0, 1] those of the targets; both have a zero diagonal.
    The paper writes sums instead of means, which is the same number: `|D/(B^2 mean D) - ...|` summed over B^2
    pairs. Means do not grow with the batch.
    """

    def __init__(
        self, target_distances: Callable[[Targets], Tensor], gamma: float = 0.1, rho: float = 2.0
    ) -> None:
        super().__init__()
        if gamma <= 0:
            raise InputError(f"gamma must be positive, got {gamma}")
        self.target_distances = target_distances
        self.gamma = gamma
        self.rho = rho

    def forward(self, z: Tensor, targets: Targets) -> Tensor:
        """Scalar loss of the outputs z (B, d)."""
        if len(z) < 2:
            raise InputError(
                "the similarity loss compares pairs: a batch of one has none; use a larger batch"
            )
        if not z.is_floating_point() or len(z) != len(targets):
            raise InputError(f"{len(z)} outputs of {z.dtype} do not fit {len(targets)} targets")
        with torch.autocast(z.device.type, enabled=False):
            z = z if z.dtype == torch.float64 else z.float()
            Y = self.target_distances(targets)
            if runs_in_triton(z):
                from kinhash.losses import sim_triton

                return sim_triton.similarity(z, Y, self.gamma, self.rho)
            return similarity(z, Y.to(z.dtype), self.gamma, self.rho)


def similarity(z: Tensor, Y: Tensor, gamma: float, rho: float) -> Tensor:
    """The loss as the formula says it, on any device."""
    tiny = torch.finfo(z.dtype).tiny  # all outputs, or all targets, may be equal
    D = manhattan(z)
    w = (gamma / (gamma + Y)) ** rho
    return ((D / D.mean().clamp_min(tiny) - Y / Y.mean().clamp_min(tiny)).abs() * w).mean()
