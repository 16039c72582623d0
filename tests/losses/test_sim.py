from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from losses import oracles

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import ClassDistances, SimilarityLoss, VectorDistances
from kinhash.losses.pairwise import chunked, manhattan
from kinhash.losses.sim import similarity


def table(rng: np.random.Generator, classes: int = 5) -> np.ndarray:
    half = rng.random((classes, classes))
    D = (half + half.T) / 2
    np.fill_diagonal(D, 0)
    return D


@pytest.mark.parametrize(("gamma", "rho"), [(0.1, 2.0), (0.5, 1.0), (0.1, 0.0)])
def test_sim_is_the_double_sum_of_the_paper(rng: np.random.Generator, gamma: float, rho: float) -> None:
    z, D = rng.normal(size=(7, 3)), table(rng)
    labels = rng.integers(0, 5, 7)
    loss = SimilarityLoss(ClassDistances(D), gamma, rho)(torch.tensor(z), Targets(torch.tensor(labels)))
    Y = np.float32(D).astype(float)[labels][:, labels]
    assert loss.item() == pytest.approx(oracles.sim(z, Y, gamma, rho), rel=1e-6)


def test_gradients_match_finite_differences(rng: np.random.Generator) -> None:
    z = torch.tensor(rng.normal(size=(6, 3)), requires_grad=True)
    Y = torch.tensor(rng.random((6, 6)))  # not symmetric on purpose
    assert torch.autograd.gradcheck(lambda x: similarity(x, Y, 0.1, 2.0), (z,))
    assert torch.autograd.gradcheck(manhattan, (z,))
    assert torch.autograd.gradcheck(chunked, (z,))


def test_chunks_of_the_backward_pass_do_not_change_it(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, G = torch.tensor(rng.normal(size=(9, 4))), torch.tensor(rng.normal(size=(9, 9)))

    def gradient() -> torch.Tensor:
        leaf = z.clone().requires_grad_()
        (chunked(leaf) * G).sum().backward()
        assert leaf.grad is not None
        return leaf.grad

    whole = gradient()
    monkeypatch.setattr("kinhash.losses.pairwise._CHUNK", 40)
    assert torch.allclose(whole, gradient(), rtol=1e-12, atol=0)


def test_mixed_targets_have_mixed_distances(rng: np.random.Generator) -> None:
    D = table(rng)
    targets = Targets(torch.tensor([0, 1, 2]), torch.tensor([3, 1, 0]), torch.tensor([0.25, 0.5, 1.0]))
    got = ClassDistances(D)(targets)
    shares = [{0: 0.25, 3: 0.75}, {1: 1.0}, {2: 1.0}]
    for b, c in itertools.product(range(3), repeat=2):
        expected = 0 if b == c else oracles.mixed_distance(D, shares[b], shares[c])
        assert got[b, c].item() == pytest.approx(expected, abs=1e-6)


def test_weight_one_is_not_mixed(rng: np.random.Generator) -> None:
    distances = ClassDistances(table(rng))
    labels, other = torch.tensor([0, 4, 2, 2]), torch.tensor([1, 1, 3, 0])
    mixed = distances(Targets(labels, other, torch.ones(4)))
    assert torch.allclose(mixed, distances(Targets(labels)), atol=1e-6)


def test_embedding_distances(rng: np.random.Generator) -> None:
    v = rng.normal(size=(5, 3))
    targets = Targets(torch.arange(5), vectors=torch.tensor(v))
    manhattan_got = VectorDistances("manhattan")(targets)
    cosine_got = VectorDistances("cosine")(targets)
    pairs = list(itertools.product(range(5), repeat=2))
    largest = max(oracles.l1(v[b], v[c]) for b, c in pairs)
    for b, c in pairs:
        assert manhattan_got[b, c].item() == pytest.approx(oracles.l1(v[b], v[c]) / largest, abs=1e-6)
        cosine = v[b] @ v[c] / np.linalg.norm(v[b]) / np.linalg.norm(v[c])
        assert cosine_got[b, c].item() == pytest.approx((1 - cosine) / 2, abs=1e-6)


def test_equal_outputs_and_equal_targets_stay_finite() -> None:
    loss = SimilarityLoss(ClassDistances(1 - np.eye(3)))
    for z, labels in [(torch.ones(4, 2), [0, 1, 2, 0]), (torch.randn(4, 2), [1, 1, 1, 1])]:
        leaf = z.clone().requires_grad_()
        value = loss(leaf, Targets(torch.tensor(labels)))
        value.backward()
        assert value.isfinite()
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()


def test_half_precision_outputs_are_compared_in_single_precision() -> None:
    z = torch.randn(8, 64).bfloat16()
    loss = SimilarityLoss(ClassDistances(1 - np.eye(4)))
    targets = Targets(torch.arange(8) % 4)
    assert loss(z, targets).dtype == torch.float32
    assert loss(z, targets).item() == loss(z.float(), targets).item()


def test_refuses_what_has_no_pairs() -> None:
    loss = SimilarityLoss(ClassDistances(1 - np.eye(3)))
    with pytest.raises(InputError, match="batch of one"):
        loss(torch.ones(1, 4), Targets(torch.tensor([0])))
    with pytest.raises(InputError, match="do not fit"):
        loss(torch.ones(3, 4), Targets(torch.tensor([0, 1])))
    with pytest.raises(InputError, match="hold no vectors"):
        SimilarityLoss(VectorDistances())(torch.ones(2, 4), Targets(torch.tensor([0, 1])))
    with pytest.raises(InputError, match="gamma"):
        SimilarityLoss(ClassDistances(1 - np.eye(3)), gamma=0)


@pytest.mark.parametrize("bad", [np.ones((2, 3)), np.full((2, 2), 1.5), np.full((2, 2), np.nan)])
def test_refuses_distances_that_are_none(bad: np.ndarray) -> None:
    with pytest.raises(InputError):
        ClassDistances(bad)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(3, 1), (63, 5), (130, 64), (512, 64), (300, 100)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_kernels_agree_with_the_formula(shape: tuple[int, int], symmetric: bool) -> None:
    from kinhash.losses import sim_triton

    torch.manual_seed(shape[0])
    z = torch.tanh(3 * torch.randn(shape, device="cuda"))
    z[: shape[0] // 3] = z[: shape[0] // 3].sign()  # equal outputs, whose difference has no sign
    Y = torch.rand(shape[0], shape[0], device="cuda")
    Y = ((Y + Y.T) / 2 if symmetric else Y).fill_diagonal_(0)
    fast = z.clone().requires_grad_()
    slow = z.double().requires_grad_()
    loss = sim_triton.similarity(fast, Y, 0.1, 2.0)
    expected = similarity(slow, Y.double(), 0.1, 2.0)
    (3 * loss).backward()
    (3 * expected).backward()
    assert fast.grad is not None
    assert slow.grad is not None
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert torch.linalg.norm(fast.grad - slow.grad) <= 1e-3 * torch.linalg.norm(slow.grad)
