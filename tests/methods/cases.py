"""Small problems for formula tests: float64 outputs, targets, and objectives built as training builds them."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import Tensor, nn

from kinhash.feeding.targets import Targets
from kinhash.methods import METHODS, Problem
from kinhash.methods.contract import LossOptions
from kinhash.models.network import Outputs
from kinhash.training.recipes import Recipe

CLASSES, INPUTS = 6, 10
# three pairs of classes, the first two of which are kin
DISTANCES = torch.ones(CLASSES, CLASSES)
DISTANCES[:4, :4] = 0.6
for first in (0, 2, 4):
    DISTANCES[first : first + 2, first : first + 2] = 0.3
DISTANCES.fill_diagonal_(0)


def problem(name: str, bits: int = 16, seed: int = 0, features: int = 12, **parameters: Any) -> Problem:
    """What `kh.train` would ask of the method; the backbone has `features` outputs."""
    method = METHODS[name]
    own, rest = method.split_options(name, parameters)
    assert not rest, rest
    vectors = torch.nn.functional.normalize(
        torch.randn(CLASSES, 5, generator=torch.Generator().manual_seed(7))
    )
    asked = Problem(
        bits=0 if method.retrieves == "floats" else bits,
        options=LossOptions(),
        classes=CLASSES,
        distances=DISTANCES.clone(),
        target_width=5 if method.regresses else 0,
        class_vectors=vectors,
        seed=seed,
        parameters=own,
    )
    if method.check is not None:
        method.check(asked)
    width = asked.bits if method.width is None else method.width(asked)
    activation = Recipe().with_options(method.recipe).activation
    return dataclasses.replace(asked, width=features if activation == "features" else width)


def objective(name: str, bits: int = 16, **parameters: Any) -> nn.Module:
    """The objective in float64, in training mode."""
    build = METHODS[name].build
    assert build is not None
    torch.manual_seed(0)
    return build(problem(name, bits, **parameters)).double()


def outputs(width: int, n: int = 9, seed: int = 0) -> Outputs:
    """Outputs between -1 and 1, logits, a regression to 5 numbers, and the embeddings behind them; all need gradients."""
    draw = torch.Generator().manual_seed(seed)

    def rows(columns: int) -> Tensor:
        return torch.randn(n, columns, generator=draw, dtype=torch.float64).requires_grad_()

    z = torch.tanh(rows(width)).detach().requires_grad_()
    return Outputs(z, rows(CLASSES), rows(5), rows(INPUTS).detach())


def targets(n: int = 9, mixed: bool = False, seed: int = 0) -> Targets:
    """Labels, every class at least once; with `mixed` every other sample is a mixture."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % CLASSES
    if not mixed:
        return Targets(labels)
    other = torch.randint(CLASSES, (n,), generator=draw)
    return Targets(labels, other, torch.where(torch.arange(n) % 2 == 0, 1.0, torch.rand(n, generator=draw)))
