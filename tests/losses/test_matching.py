"""MATCH against loops; it is least where every picture is nearest to its own sentence."""

from __future__ import annotations

import math

import pytest
import torch

from kinhash.errors import InputError
from kinhash.losses import MatchingLoss


def slow(z: torch.Tensor, text: torch.Tensor, scale: float) -> float:
    total = 0.0
    for a, b in ((z, text), (text, z)):
        for i in range(len(a)):
            logits = [scale * float(torch.cosine_similarity(a[i], b[j], dim=0)) for j in range(len(b))]
            total -= logits[i] - math.log(sum(map(math.exp, logits)))
    return total / (2 * len(z))


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_against_loops(scale: float) -> None:
    torch.manual_seed(0)
    z, text = torch.tanh(torch.randn(6, 5)), torch.tanh(torch.randn(6, 5))
    assert MatchingLoss(scale)(z, text).item() == pytest.approx(slow(z, text, scale), rel=1e-5)


def test_own_sentences_cost_least_and_duplicates_are_finite() -> None:
    z = torch.where(torch.rand(8, 64, generator=torch.Generator().manual_seed(1)) < 0.5, -1.0, 1.0)
    loss = MatchingLoss(30.0)
    assert loss(z, z).item() < 0.01 < loss(z, z.roll(1, 0)).item()
    same = torch.ones(4, 8, requires_grad=True)
    value = loss(same, same)
    value.backward()
    assert value.item() == pytest.approx(math.log(4), rel=1e-5)
    assert same.grad is not None
    assert bool(same.grad.isfinite().all())


def test_what_does_not_fit() -> None:
    with pytest.raises(InputError, match=r"\(2, 3\) outputs of pictures do not fit \(3, 3\)"):
        MatchingLoss()(torch.zeros(2, 3), torch.zeros(3, 3))
    with pytest.raises(InputError, match="scale of the cosines is positive"):
        MatchingLoss(0.0)
