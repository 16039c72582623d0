"""MARGINAL: every bit on its own is distributed like the near-binary target."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses.beta import quantiles


class MarginalLoss(nn.Module):
    """`mean_jb | z_(b)j - Q((b - 1/2) / B) |`: sorted outputs of bit j against the quantiles Q of `2 Beta(a, a) - 1`.

    This is the Wasserstein-1 distance of each bit's outputs from the target. In many dimensions nearest
    neighbours hardly see the shape of the marginals; sorting sees it exactly, and balances the bits.
    """

    def __init__(self, a: float = 0.1) -> None:
        super().__init__()
        quantiles(0.5, a)  # refuses a bad `a` now rather than in the first step
        self.a = a
        self._tables: dict[tuple[int, torch.device], Tensor] = {}

    def forward(self, z: Tensor, targets: Targets) -> Tensor:
        """Scalar distance of the outputs z (B, d) from the target, in [0, 2]."""
        if not len(z):
            raise InputError("the marginal loss needs at least one output")
        with torch.autocast(z.device.type, enabled=False):
            z = z if z.dtype == torch.float64 else z.float()
            expected = self._quantiles(len(z), z.device).to(z.dtype)
            return (z.sort(dim=0).values - expected[:, None]).abs().mean()

    def _quantiles(self, n: int, device: torch.device) -> Tensor:
        if (n, device) not in self._tables:
            steps = (torch.arange(n, dtype=torch.float64) + 0.5) / n
            self._tables[n, device] = torch.from_numpy(quantiles(steps.numpy(), self.a)).to(device)
        return self._tables[n, device]
