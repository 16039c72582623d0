"""HashNet and DCH against loops over pairs, and what they do with mixtures and missing kinds of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from methods import cases

from kinhash.feeding.targets import Targets
from kinhash.methods.hashnet import HashNetObjective


def balanced_mean(losses: list[tuple[float, float, float]]) -> float:
    """(share of likeness, loss as a like pair, loss as an unlike pair) of every pair."""
    like = sum(s for s, _, _ in losses)
    unlike = sum(1 - s for s, _, _ in losses)
    first = sum(s * loss for s, loss, _ in losses) / like if like else 0.0
    return first + (sum((1 - s) * loss for s, _, loss in losses) / unlike if unlike else 0.0)


def pairs_of(targets: Targets) -> list[tuple[int, int, float]]:
    shares = targets.soft(cases.CLASSES, torch.float64).numpy()
    n = len(shares)
    return [(i, j, float(shares[i] @ shares[j])) for i in range(n) for j in range(n) if i != j]


@pytest.mark.parametrize("mixed", [False, True])
def test_hashnet_is_the_balanced_likelihood_of_pairs(mixed: bool) -> None:
    objective, outputs, targets = cases.objective("hashnet"), cases.outputs(16), cases.targets(mixed=mixed)
    assert isinstance(objective, HashNetObjective)
    for epoch, beta in ((0, 1.0), (2, math.sqrt(10.0)), (4, 10.0)):
        objective.begin_epoch(epoch, 5)
        h, losses = np.tanh(beta * outputs.z.detach().numpy()), []
        for i, j, s in pairs_of(targets):
            t = 0.1 * float(h[i] @ h[j])
            losses.append((s, math.log1p(math.exp(t)) - t, math.log1p(math.exp(t))))
        terms = objective(outputs, targets)
        assert terms["pairs"].item() == pytest.approx(balanced_mean(losses), rel=1e-6)
    objective.begin_epoch(0, 1)  # a training of one epoch
    assert objective.beta.item() == 1


@pytest.mark.parametrize("mixed", [False, True])
def test_dch_is_a_cauchy_likelihood(mixed: bool) -> None:
    objective = cases.objective("dch", dch_gamma=5.0, dch_weight=0.3, dch_floor=1e-12)
    outputs, targets = cases.outputs(16), cases.targets(mixed=mixed)
    z, losses, quantise = outputs.z.detach().numpy(), [], []

    def distance(a: np.ndarray, b: np.ndarray) -> float:
        return 8 * (1 - float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b)))

    for i, j, s in pairs_of(targets):
        D = distance(z[i], z[j])
        losses.append((s, math.log(D / 5) + math.log(1 + 5 / D), math.log(1 + 5 / D)))
    for row in z:
        quantise.append(math.log(1 + distance(np.abs(row), np.ones(16)) / 5))
    terms = objective(outputs, targets)
    assert terms["pairs"].item() == pytest.approx(balanced_mean(losses), rel=1e-9)
    assert terms["quantise"].item() == pytest.approx(0.3 * np.mean(quantise), rel=1e-9)


@pytest.mark.parametrize("name", ["hashnet", "dch"])
@pytest.mark.parametrize("labels", [[0, 1, 2], [3, 3, 3]])
def test_a_kind_of_pair_that_a_batch_lacks_counts_nothing(name: str, labels: list[int]) -> None:
    """And equal outputs of unlike samples have finite gradients."""
    outputs = cases.outputs(16, n=3)
    same = outputs.z.detach()[:1].repeat(3, 1).requires_grad_()
    total = cases.objective(name)(outputs._replace(z=same), Targets(torch.tensor(labels)))["pairs"]
    total.backward()
    assert same.grad is not None
    assert torch.isfinite(total)
    assert torch.isfinite(same.grad).all()
