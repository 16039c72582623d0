"""The hash layer is bounded and balanced; heads see what they should; gradients stop where they should."""

from __future__ import annotations

import pytest
import torch

from kinhash.errors import InputError
from kinhash.models import HashLayer, HashNetwork, build_backbone
from kinhash.models.hash_layer import FloatLayer, build_layer


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


def test_layers_without_bounds() -> None:
    x = torch.randn(9, 5)
    layers = {name: build_layer(5, 4, name) for name in ("norm", "linear", "unit", "features")}  # type: ignore[arg-type]
    y = {name: layer(x) for name, layer in layers.items()}
    torch.testing.assert_close(y["norm"].mean(0), torch.zeros(4), atol=1e-5, rtol=0)
    torch.testing.assert_close(y["norm"].var(0, correction=0), torch.ones(4), atol=1e-3, rtol=0)
    assert isinstance(layers["linear"], FloatLayer)
    torch.testing.assert_close(y["linear"], layers["linear"].linear(x))
    torch.testing.assert_close(y["unit"].norm(dim=1), torch.ones(9))
    assert torch.equal(y["features"], x)
    assert (layers["features"].width, layers["unit"].width) == (5, 4)


def test_a_class_head_may_see_signs_or_a_normalised_relu() -> None:
    torch.manual_seed(0)
    z = torch.randn(9, 4, requires_grad=True)
    signs = HashNetwork(build_backbone("none", inputs=5), 4, 3, reading="sign")
    found = signs.heads(z).logits
    assert found is not None
    W = signs.classifier[1]  # type: ignore[index]
    torch.testing.assert_close(found, W(torch.where(z >= 0, 1.0, -1.0)))
    found.sum().backward()
    torch.testing.assert_close(z.grad, W.weight.sum(0).expand(9, 4))  # as if the signs were not there
    normed = HashNetwork(build_backbone("none", inputs=5), 4, 3, reading="relu-norm").heads(z).logits
    assert normed is not None
    assert normed.shape == (9, 3)
