"""The hash layer is bounded and balanced; heads see what they should; gradients stop where they should."""

from __future__ import annotations

import pytest
import torch

from kinhash.errors import InputError
from kinhash.models import HashLayer, HashNetwork, build_backbone


@pytest.mark.parametrize("activation", ["tanh", "softsign", "straight-through"])
def test_bounded_balanced_and_differentiable(activation: str) -> None:
    torch.manual_seed(0)
    layer = HashLayer(12, 20, activation)  # type: ignore[arg-type]
    x = torch.randn(64, 12) * 30 + 5
    z = layer(x)
    assert z.shape == (64, 20)
    assert z.dtype == torch.float32
    assert float(z.abs().max().detach()) <= 1
    assert 0.25 < float((z >= 0).float().mean(0).min()) <= float((z >= 0).float().mean(0).max()) < 0.75
    (z * torch.randn_like(z)).sum().backward()
    gradient = layer.linear.weight.grad
    assert gradient is not None
    assert float(gradient.abs().max()) > 0
    if activation == "straight-through":
        assert set(z.detach().unique().tolist()) == {-1.0, 1.0}


def test_the_formulas() -> None:
    torch.manual_seed(0)
    layers = {name: HashLayer(3, 4, name) for name in ("tanh", "softsign", "straight-through")}  # type: ignore[arg-type]
    x = torch.randn(10, 3, dtype=torch.float32)
    for name, layer in layers.items():
        y = x @ layer.linear.weight.T
        y = (y - y.mean(0)) / torch.sqrt(y.var(0, correction=0) + 1e-5)
        expected = {"tanh": y.tanh(), "softsign": y / (1 + y.abs()), "straight-through": y.sign()}[name]
        torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-5)


def test_nan_is_not_hidden_behind_a_sign() -> None:
    layer = HashLayer(3, 4, "straight-through").eval()
    assert bool(layer(torch.full((2, 3), torch.nan)).isnan().all())


def test_heads_and_detachment() -> None:
    x = torch.randn(6, 3, 8, 8)
    for detach in (True, False):
        network = HashNetwork("wrn10-1", 16, 5, detach_head=detach, regression=7)
        z, logits, regression = network(x)[:3]
        assert logits is not None
        assert regression is not None
        assert (z.shape, logits.shape, regression.shape) == ((6, 16), (6, 5), (6, 7))
        logits.square().sum().backward()
        assert (network.hash.linear.weight.grad is None) == detach
        assert network.classifier is not None
        assert network.classifier.weight.grad is not None
    plain = HashNetwork("wrn10-1", 16)(x)
    assert plain.logits is None
    assert plain.regression is None


def test_a_frozen_backbone_does_not_move() -> None:
    network = HashNetwork("wrn10-1", 8, 3, frozen=True).train()
    before = {key: value.clone() for key, value in network.backbone.state_dict().items()}
    network(torch.randn(6, 3, 8, 8)).z.square().sum().backward()
    assert all(p.grad is None for p in network.backbone.parameters())
    assert network.hash.linear.weight.grad is not None
    assert network.hash.training
    for key, value in network.backbone.state_dict().items():
        assert torch.equal(value, before[key]), key


def test_bfloat16_gives_float32_codes() -> None:
    network = HashNetwork(build_backbone("mlp", inputs=9, hidden=[8]), 8, 3)
    with torch.autocast("cpu", torch.bfloat16):
        out = network(torch.randn(5, 9))
    assert out.z.dtype == torch.float32


@pytest.mark.parametrize(
    "options", [{"bits": 0}, {"activation": "relu"}, {"classes": -1}, {"regression": -1}]
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        HashNetwork("wrn10-1", **options)  # type: ignore[arg-type]
