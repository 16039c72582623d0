from __future__ import annotations

import numpy as np
import pytest
import torch
from losses import oracles
from scipy import stats

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss, MarginalLoss, RegressionLoss, hierarchical_smoothing


def test_cross_entropy_of_mixed_and_smoothed_targets(rng: np.random.Generator) -> None:
    logits, D = 5 * rng.normal(size=(4, 3)), np.array([[0, 0.2, 1], [0.2, 0, 0.9], [1, 0.9, 0]])
    targets = Targets(
        torch.tensor([0, 1, 2, 2]), torch.tensor([1, 1, 0, 2]), torch.tensor([0.3, 0.5, 1.0, 0.1])
    )
    shares = np.array([[0.3, 0.7, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    plain = ClassificationLoss()(torch.tensor(logits), targets)
    assert plain.item() == pytest.approx(oracles.cross_entropy(logits, shares), rel=1e-6)
    smoothing = hierarchical_smoothing(D, 0.2, 5.0)
    smoothed = ClassificationLoss(smoothing)(torch.tensor(logits), targets)
    assert smoothed.item() == pytest.approx(
        oracles.cross_entropy(logits, shares @ smoothing.numpy()), rel=1e-6
    )


def test_smoothing_follows_the_hierarchy() -> None:
    D = np.array([[0, 0.2, 1], [0.2, 0, 0.9], [1, 0.9, 0]])
    rows = hierarchical_smoothing(D, 0.2, 5.0).numpy()
    weights = np.exp(-5 * D)
    expected = 0.8 * np.eye(3) + 0.2 * weights / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert rows[0, 1] > rows[0, 2]
    uniform = hierarchical_smoothing(D, 0.3, 0.0).numpy()
    np.testing.assert_allclose(uniform, 0.7 * np.eye(3) + 0.1, atol=1e-6)
    for bad in ({"amount": 1.5}, {"beta": -1.0}):
        with pytest.raises(InputError):
            hierarchical_smoothing(D, **bad)


def test_marginal_is_the_wasserstein_distance_of_every_bit(rng: np.random.Generator) -> None:
    z = rng.uniform(-1, 1, (50, 3))
    quantiles = 2 * stats.beta.ppf((np.arange(50) + 0.5) / 50, 0.1, 0.1) - 1
    expected = np.mean([stats.wasserstein_distance(z[:, j], quantiles) for j in range(3)])
    got = MarginalLoss()(torch.tensor(z), Targets(torch.zeros(50, dtype=torch.int64)))
    assert got.item() == pytest.approx(expected, abs=1e-5)


def test_regression(rng: np.random.Generator) -> None:
    f, v = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    targets = Targets(torch.arange(4), vectors=torch.tensor(v))
    cosines = [f[b] @ v[b] / np.linalg.norm(f[b]) / np.linalg.norm(v[b]) for b in range(4)]
    assert RegressionLoss()(torch.tensor(f), targets).item() == pytest.approx(1 - np.mean(cosines))
    squared = RegressionLoss("squared")(torch.tensor(f), targets)
    assert squared.item() == pytest.approx(sum((f - v).ravel() ** 2) / 12)
    with pytest.raises(InputError, match="target vectors"):
        RegressionLoss()(torch.tensor(f), Targets(torch.arange(4)))


def test_gradients_match_finite_differences(rng: np.random.Generator) -> None:
    x = torch.tensor(rng.normal(size=(5, 3)), requires_grad=True)
    targets = Targets(torch.tensor([0, 1, 2, 0, 1]), vectors=torch.tensor(rng.normal(size=(5, 3))))
    for loss in (ClassificationLoss(), MarginalLoss(), RegressionLoss(), RegressionLoss("squared")):
        assert torch.autograd.gradcheck(lambda y, loss=loss: loss(y, targets), (x,))
