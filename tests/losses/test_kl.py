from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from losses import oracles
from scipy import stats

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import KLLoss
from kinhash.losses.beta import draw, draw_table, quantiles
from kinhash.losses.kl import share_a_class
from kinhash.losses.pairwise import distances


@pytest.mark.parametrize("a", [0.05, 0.1, 0.5, 1.0])
def test_quantiles_are_those_of_scipy(a: float) -> None:
    p = np.concatenate([np.linspace(0, 1, 41), [1e-3, 0.999, 0.4999]])
    np.testing.assert_allclose(quantiles(p, a), 2 * stats.beta.ppf(p, a, a) - 1, atol=2e-5)


def test_draws_are_near_binary_and_balanced() -> None:
    torch.manual_seed(0)
    t = draw((20_000, 4), draw_table(0.1))
    assert (t.abs() > 0.9).float().mean().item() == pytest.approx(0.75, abs=0.01)
    assert t.mean().item() == pytest.approx(0, abs=0.01)
    assert t.abs().max() <= 1


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("neighbours", ["all", "other_class"])
def test_kl_is_the_mean_of_log_ratios(rng: np.random.Generator, k: int, norm: int, neighbours: str) -> None:
    z, t = rng.uniform(-1, 1, (8, 3)), rng.uniform(-1, 1, (11, 3))
    labels = [0, 0, 1, 1, 2, 2, 2, 0]
    banned = [
        {c for c in range(8) if c == b or (neighbours == "other_class" and labels[c] == labels[b])}
        for b in range(8)
    ]
    loss = KLLoss(k=k, norm=norm, floor=0.07, neighbours=neighbours)  # type: ignore[arg-type]
    got = loss.divergence(torch.tensor(z), torch.tensor(t), Targets(torch.tensor(labels)))
    expected = oracles.kl(z, t, k=k, norm=norm, floor=0.07, banned=banned)
    assert got.item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("norm", [1, 2])
def test_gradients_match_finite_differences(rng: np.random.Generator, norm: int) -> None:
    z = torch.tensor(rng.uniform(-1, 1, (6, 4)), requires_grad=True)
    t = torch.tensor(rng.uniform(-1, 1, (6, 4)))
    loss = KLLoss(norm=norm)  # type: ignore[arg-type]
    assert torch.autograd.gradcheck(lambda x: loss.divergence(x, t), (z,))


def test_textbook_scale_and_its_zero() -> None:
    """Samples of the target itself have a divergence near 0, exact corners one above it."""
    torch.manual_seed(0)
    table = draw_table(0.1)
    paper, book = KLLoss(), KLLoss(scale="textbook")
    z, t = draw((1024, 64), table), draw((1024, 64), table)
    assert abs(paper.divergence(z, t).item()) < 0.01
    d = 64 * paper.divergence(z, t).item() + math.log(1024 / 1023)
    assert book.divergence(z, t).item() == pytest.approx(d, rel=1e-5)
    assert 0.02 < paper.divergence(z.sign(), t).item() < 0.1


def test_duplicates_have_finite_gradients() -> None:
    for norm in (1, 2):
        z = torch.ones(6, 4, requires_grad=True)
        value = KLLoss(norm=norm)(z, Targets(torch.zeros(6, dtype=torch.int64)))  # type: ignore[arg-type]
        value.backward()
        assert value.isfinite()
        assert z.grad is not None
        assert z.grad.isfinite().all()


def test_a_batch_of_one_class_has_no_other_class_to_be_far_from() -> None:
    z = torch.randn(5, 4, requires_grad=True)
    value = KLLoss(neighbours="other_class")(z, Targets(torch.zeros(5, dtype=torch.int64)))
    value.backward()
    assert value.item() == 0


def test_mixed_samples_share_either_class() -> None:
    mixed = Targets(torch.tensor([0, 1, 3]), torch.tensor([1, 2, 4]), torch.tensor([0.5, 0.5, 0.5]))
    assert share_a_class(mixed).tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    whole = Targets(mixed.labels, mixed.other, torch.tensor([1.0, 1.0, 0.0]))  # of one class each: 0, 1, 4
    assert torch.equal(share_a_class(whole), torch.eye(3, dtype=torch.bool))


def test_refuses_bad_options_and_tiny_batches() -> None:
    targets = Targets(torch.zeros(1, dtype=torch.int64))
    with pytest.raises(InputError, match="larger batch"):
        KLLoss()(torch.ones(1, 4), targets)
    for options in (
        {"k": 0},
        {"norm": 3},
        {"draws": 0},
        {"floor": 0},
        {"a": 0},
        {"neighbours": "some"},
        {"scale": "x"},
    ):
        with pytest.raises(InputError):
            KLLoss(**options)  # type: ignore[arg-type]


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(3, 5, 2), (70, 130, 64), (512, 512, 100)])
def test_the_kernel_of_distances_agrees_with_cdist(shape: tuple[int, int, int]) -> None:
    a, b = (torch.randn(n, shape[2], device="cuda") for n in shape[:2])
    expected = torch.cdist(a.double(), b.double(), p=1)
    torch.testing.assert_close(distances(a, b, 1.0).double(), expected, rtol=1e-5, atol=1e-5)
