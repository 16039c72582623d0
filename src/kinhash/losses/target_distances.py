"""The semantic distance d(y_b, y_b') of every pair of targets in a batch."""

from __future__ import annotations

from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from kinhash.arrays import checked_choice
from kinhash.errors import InputError
from kinhash.feeding.targets import Targets


class ClassDistances(nn.Module):
    """Distances between classes, looked up: `d[b, b'] = sum_cc' P[b, c] D[c, c'] P[b', c']`, zero diagonal.

    P holds the class shares of the samples (`Targets.soft`), so mixed samples get the mixed distance.
    """

    distances: Tensor

    def __init__(self, distances: ArrayLike | Tensor) -> None:
        super().__init__()
        table = torch.as_tensor(distances, dtype=torch.float32)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise InputError(f"class distances are a (C, C) matrix, got shape {tuple(table.shape)}")
        if not bool(((table >= 0) & (table <= 1)).all()):
            raise InputError("class distances must lie in [0, 1]; scale them first")
        self.register_buffer("distances", table, persistent=False)

    def forward(self, targets: Targets) -> Tensor:
        """(B, B) in [0, 1]."""
        if targets.other is None:
            return self.distances[targets.labels[:, None], targets.labels[None, :]].fill_diagonal_(0)
        shares = targets.soft(len(self.distances), self.distances.dtype)
        with torch.autocast(shares.device.type, enabled=False):
            return (shares @ self.distances @ shares.T).clamp_(0, 1).fill_diagonal_(0)


class VectorDistances(nn.Module):
    """Distances between target embeddings, scaled to [0, 1].

    `manhattan`: `|v - v'|_1 / max` over the batch; `cosine`: `(1 - cos(v, v')) / 2`.
    """

    def __init__(self, metric: Literal["manhattan", "cosine"] = "manhattan") -> None:
        super().__init__()
        checked_choice(metric, ("manhattan", "cosine"), "metric")
        self.metric = metric

    def forward(self, targets: Targets) -> Tensor:
        """(B, B) in [0, 1]."""
        if targets.vectors is None:
            raise InputError("these targets hold no vectors: distances between embeddings need them")
        vectors = targets.vectors.float()
        with torch.autocast(vectors.device.type, enabled=False):
            if self.metric == "manhattan":
                distances = torch.cdist(vectors, vectors, p=1)
                distances = distances / distances.max().clamp_min(torch.finfo(torch.float32).tiny)
            else:
                unit = nn.functional.normalize(vectors)
                distances = (1 - unit @ unit.T).clamp(0, 2) / 2
        return distances.fill_diagonal_(0)
