"""Hierarchical label smoothing: a class gives most of the smoothed mass to its kin (Bertinetto et al. 2020)."""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from kinhash.errors import InputError


def hierarchical_smoothing(distances: ArrayLike | Tensor, amount: float = 0.1, beta: float = 10.0) -> Tensor:
    """(C, C) with rows `(1 - amount) onehot(c) + amount softmax_c'(-beta d(c, c'))`.

    beta = 0 is ordinary uniform smoothing; a large beta gives everything to the class itself.
    """
    table = torch.as_tensor(distances, dtype=torch.float32)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise InputError(f"class distances are a (C, C) matrix, got shape {tuple(table.shape)}")
    if not 0 <= amount <= 1 or beta < 0:
        raise InputError(f"amount lies in [0, 1] and beta is not negative, got {amount} and {beta}")
    own = torch.eye(len(table), device=table.device)
    return (1 - amount) * own + amount * torch.softmax(-beta * table, dim=1)
