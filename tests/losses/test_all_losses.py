"""What holds for every loss: gradients with mixed targets, no waiting for the GPU, no B x B x d tensor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from losses.watch import SYNCHRONISING, Watch
from torch import Tensor

from kinhash.feeding.targets import Targets
from kinhash.losses import (
    ClassDistances,
    ClassificationLoss,
    KLLoss,
    MarginalLoss,
    RegressionLoss,
    SimilarityLoss,
    VectorDistances,
    hierarchical_smoothing,
    pairwise,
)

Loss = Callable[[Tensor, Targets], Tensor]
CLASSES = 4
D = torch.tensor([[0, 0.2, 0.8, 1], [0.2, 0, 0.9, 0.7], [0.8, 0.9, 0, 0.3], [1, 0.7, 0.3, 0]])

LOSSES: dict[str, Loss] = {
    "sim": SimilarityLoss(ClassDistances(D)),
    "sim-manhattan": SimilarityLoss(VectorDistances("manhattan")),
    "sim-cosine": SimilarityLoss(VectorDistances("cosine")),
    "kl": KLLoss(),
    "kl-l2": KLLoss(norm=2, k=2, draws=4, scale="textbook"),
    "kl-other-class": KLLoss(neighbours="other_class"),
    "marginal": MarginalLoss(),
    "classification": ClassificationLoss(),
    "classification-smoothed": ClassificationLoss(hierarchical_smoothing(D)),
    "regression-cosine": RegressionLoss("cosine"),
    "regression-squared": RegressionLoss("squared"),
}


def mixed(n: int, width: int = CLASSES, dtype: torch.dtype = torch.float32) -> Targets:
    """Whole samples and mixed ones, with vectors."""
    draw = torch.Generator().manual_seed(n)
    labels, other = (torch.randint(CLASSES, (n,), generator=draw) for _ in range(2))
    weight = torch.where(torch.arange(n) % 2 == 0, 1.0, torch.rand(n, generator=draw))
    return Targets(labels, other, weight, torch.randn(n, width, generator=draw, dtype=dtype))


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_with_mixed_targets_match_finite_differences(name: str) -> None:
    z = torch.randn(7, CLASSES, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    targets = mixed(7, dtype=torch.float64)

    def value(x: Tensor) -> Tensor:
        torch.manual_seed(0)  # KL draws
        return LOSSES[name](x, targets)

    assert torch.autograd.gradcheck(value, (z.requires_grad_(),))


@pytest.mark.parametrize("name", LOSSES)
def test_a_sample_mixed_with_itself_is_not_mixed(name: str) -> None:
    """`weight` 1, or twice the same class, means what no mixing means."""
    z, targets = torch.randn(9, CLASSES), mixed(9)
    one = torch.ones(9)
    same = [
        Targets(targets.labels, vectors=targets.vectors),
        Targets(targets.labels, targets.other, one, targets.vectors),
        Targets(targets.labels, targets.labels, one / 3, targets.vectors),
    ]
    values = []
    for each in same:
        torch.manual_seed(0)
        values.append(LOSSES[name](z, each).item())
    assert values == pytest.approx([values[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_no_loss_waits_for_the_device_or_holds_every_pair_of_features(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_hot(labels: Tensor, classes: int) -> Tensor:
        """torch's own looks at its input on a CPU, and only there."""
        return (labels[:, None] == torch.arange(classes)).long()

    monkeypatch.setattr(torch.nn.functional, "one_hot", one_hot)
    B, d = 64, CLASSES if name.startswith("class") else 32
    z = torch.randn(B, d, requires_grad=True)
    targets = mixed(B, d)
    LOSSES[name](z, targets)  # tables are made once
    with Watch() as watch:
        LOSSES[name](z, targets).backward()
    assert not watch.names & SYNCHRONISING
    assert watch.largest <= max(4 * B * B, 2**14 + 1)


def test_the_watch_sees_what_it_should() -> None:
    z = torch.randn(8, 4)
    with Watch() as watch:
        (z[:, None] - z[None]).abs().sum()
        z[z > 0].sum().item()
    assert watch.largest == 8 * 8 * 4
    assert watch.names & SYNCHRONISING


def test_the_version_for_other_devices_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "_CHUNK", 200)
    z, G = torch.randn(20, 16, dtype=torch.float64), torch.randn(20, 20, dtype=torch.float64)
    gradients = []
    for distances in (pairwise.manhattan, pairwise.chunked):
        leaf = z.clone().requires_grad_()
        with Watch() as watch:
            (distances(leaf) * G).sum().backward()
        assert watch.largest <= 20 * 20
        gradients.append(leaf.grad)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-12, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("name", LOSSES)
def test_a_cuda_graph_holds_every_loss(name: str) -> None:
    loss = LOSSES[name].to("cuda") if isinstance(LOSSES[name], torch.nn.Module) else LOSSES[name]
    d = CLASSES if name.startswith("class") else 32
    z = torch.randn(64, d, device="cuda", requires_grad=True)
    targets = mixed(64, d).map(torch.Tensor.cuda)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            loss(z, targets).backward()
    torch.cuda.synchronize()
    z.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = loss(z, targets)
        value.backward()
    graph.replay()
    first = value.item()
    assert z.grad is not None
    assert z.grad.isfinite().all()
    graph.replay()
    drawn = name.startswith("kl")
    assert (value.item() != first) == drawn  # fresh draws in every replay
