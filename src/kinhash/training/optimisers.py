"""Optimisers whose learning rate can change inside a captured CUDA graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from kinhash.training.recipes import Recipe


def build_optimiser(module: nn.Module, recipe: Recipe, device: torch.device) -> torch.optim.Optimizer:
    """SGD with Nesterov momentum, Adam or AdamW over what `module` trains, as the recipe says.

    On a GPU all parameters are updated by fused kernels and the rate is a tensor, which a CUDA graph reads anew at
    every replay. Biases and the scales of normalisations decay only where `recipe.decay_all` says so.
    """
    cuda = device.type == "cuda"
    options: dict[str, Any] = {
        "lr": torch.tensor(recipe.lr, device=device) if cuda else recipe.lr,
        "weight_decay": recipe.weight_decay,
        "fused": cuda or None,
    }
    groups = _groups(module, recipe)
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(groups, momentum=recipe.momentum, nesterov=recipe.momentum > 0, **options)
    kind = torch.optim.Adam if recipe.optimiser == "adam" else torch.optim.AdamW
    return kind(groups, capturable=cuda, **options)


def set_learning_rate(optimiser: torch.optim.Optimizer, value: float) -> None:
    """The rate of the next step; a tensor keeps its place in memory, where a captured graph looks for it."""
    for group in optimiser.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(value)
        else:
            group["lr"] = value


def _groups(module: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    trained = [p for p in module.parameters() if p.requires_grad]
    if recipe.decay_all:
        return [{"params": trained}]
    matrices = [p for p in trained if p.ndim > 1]
    vectors = [p for p in trained if p.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
