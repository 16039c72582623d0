"""Every backbone gives `width` numbers per picture, and its card makes the same module again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from models import with_timm

from kinhash.errors import FormatError, InputError, MissingDependencyError
from kinhash.models import HashEncoder, HashNetwork, build_backbone, load_encoder
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import Chain, from_card
from kinhash.models.resnet_cifar import BasicBlock

LITE = pytest.mark.skipif(
    importlib.util.find_spec("efficientnet_lite_pytorch") is None, reason="the extra weights-lite is missing"
)
CASES = [
    ("resnet110w", 16, 128),
    ("resnet8w", 15, 128),
    ("wrn16-8", 8, 512),
    ("wrn10-1", 9, 64),
    ("resnet50d", 33, 2048),
    pytest.param("efficientnet-lite0", 224, 1280, marks=LITE),
]


@pytest.mark.parametrize(("name", "size", "width"), CASES)
def test_shapes_and_cards(name: str, size: int, width: int) -> None:
    torch.manual_seed(0)
    backbone = build_backbone(name).eval()
    x = torch.randn(2, 3, size, size)
    with torch.no_grad():
        y = backbone(x)
        y_last = backbone.to(memory_format=torch.channels_last)(
            x.contiguous(memory_format=torch.channels_last)
        )
    assert y.shape == (2, width)
    assert backbone.width == width
    torch.testing.assert_close(y_last, y, rtol=1e-3, atol=1e-4)
    again = from_card(backbone.card())
    again.load_state_dict(backbone.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(again.eval()(x), y, rtol=1e-3, atol=1e-4)


def count(backbone: Backbone) -> int:
    return sum(p.numel() for p in backbone.parameters())


def test_architectures_have_their_layers() -> None:
    """Convolutions counted from the papers: 2 per basic block; parameters of WRN-16-8 and -28-10 as published."""
    convs = [m for m in build_backbone("resnet110w").modules() if isinstance(m, torch.nn.Conv2d)]
    assert len(convs) == 1 + 3 * 18 * 2
    assert {conv.out_channels for conv in convs} == {32, 64, 128}
    assert round(count(build_backbone("wrn16-8")) / 1e6, 1) == 11.0
    assert round(count(build_backbone("wrn28-10")) / 1e6, 1) == 36.5
    assert round(count(build_backbone("resnet50d")) / 1e6, 1) == 23.5


def test_the_shortcut_averages_and_pads() -> None:
    block = BasicBlock(4, 8).eval()
    torch.nn.init.zeros_(block.norm2.weight)
    x = torch.rand(2, 4, 6, 6)
    expected = torch.zeros(2, 8, 3, 3)
    for i in range(3):
        for j in range(3):
            expected[:, :4, i, j] = x[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].mean((2, 3))
    torch.testing.assert_close(block(x), expected)


@pytest.mark.parametrize("name", ["resnet8w", "wrn10-1"])
def test_gradients_reach_every_weight_in_bfloat16(name: str) -> None:
    backbone = build_backbone(name)
    with torch.autocast("cpu", torch.bfloat16):
        backbone(torch.randn(4, 3, 16, 16)).float().square().sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in backbone.parameters())


def test_mlp_and_identity() -> None:
    x = torch.randn(6, 5)
    assert torch.equal(build_backbone("none", inputs=5)(x), x)
    mlp = build_backbone("mlp", inputs=5, hidden=(7, 3), dropout=0.2).eval()
    assert mlp(x).shape == (6, 3)
    assert mlp.width == 3
    with torch.no_grad():
        y = x / np.sqrt(1 + 1e-5)  # batch norm before any batch was seen
        for layer in mlp.layers:  # type: ignore[union-attr]
            if isinstance(layer, torch.nn.Linear):
                y = F.relu(y @ layer.weight.T / np.sqrt(1 + 1e-5))
        torch.testing.assert_close(mlp(x), y)


def test_an_mlp_leaves_out_inputs_in_training_alone() -> None:
    x = torch.randn(512, 40)
    mlp = build_backbone("mlp", inputs=40, hidden=[7], input_dropout=0.5)
    dropout = mlp.layers[1]  # type: ignore[index]
    seen: list[torch.Tensor] = []
    dropout.register_forward_hook(lambda layer, taken, given: seen.append(given))
    mlp(x)
    assert 0.45 < float((seen[0] == 0).float().mean()) < 0.55
    mlp.eval()(x)
    assert not bool((seen[1] == 0).any())
    assert from_card(mlp.card()).options["input_dropout"] == 0.5


def test_a_chain_is_one_backbone_after_the_other() -> None:
    first, second = build_backbone("wrn10-1").eval(), build_backbone("mlp", inputs=64, hidden=[9]).eval()
    chain = Chain(first, second).eval()
    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(chain(x), second(first(x)))
    again = from_card(chain.card())
    again.load_state_dict(chain.state_dict())
    torch.testing.assert_close(again.eval()(x), chain(x))
    longer = Chain(chain, build_backbone("none", inputs=9))
    assert from_card(longer.card())(x).shape == (2, 9)
    with pytest.raises(InputError, match="do not fit"):
        Chain(first, build_backbone("mlp", inputs=63))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("resnet111w", {}, "6 n"),
        ("wrn17-8", {}, "6 n"),
        ("vgg", {}, "no backbone 'vgg'"),
        ("mlp", {}, "inputs"),
        ("mlp", {"inputs": 3, "hidden": []}, "hidden"),
        ("resnet50d", {"size": 3}, "size"),
    ],
)
def test_bad_names_and_options(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_backbone(name, **options)


@pytest.mark.parametrize(
    "card", [{}, {"name": 3}, {"name": "chain"}, {"name": "mlp", "inputs": "x"}, {"name": "vgg"}]
)
def test_damaged_cards(card: dict[str, object]) -> None:
    with pytest.raises(FormatError, match="description of the backbone"):
        from_card(card)


def test_timm_that_is_missing_or_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(MissingDependencyError, match=r"kinhash\[timm\]"):
        build_backbone("timm:resnet18")

    def refuse(*_: object) -> None:
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr("kinhash.models.timm_models.require", refuse)
    with pytest.raises(MissingDependencyError, match=r"different builds .*torchvision::nms"):
        build_backbone("timm:resnet18")


@pytest.mark.parametrize(
    "name", ["resnet18", "vit_tiny_patch16_224", "mobilenetv3_small_050", "convnext_atto"]
)
def test_timm_by_name(name: str, tmp_path: Path) -> None:
    with_timm.imported()
    size = 224 if name.startswith("vit") else 32
    backbone = build_backbone(f"timm:{name}", pretrained=False, size=size).eval()
    assert backbone.preprocessing is not None
    assert backbone.preprocessing.size == size
    assert backbone(torch.randn(2, 3, size, size)).shape == (2, backbone.width)
    assert from_card(backbone.card()).state_dict().keys() == backbone.state_dict().keys()
    encoder = HashEncoder(HashNetwork(backbone, 16))
    encoder.save(tmp_path)
    pictures = np.random.default_rng(0).integers(0, 256, (3, 40, 50, 3), dtype=np.uint8)
    assert load_encoder(tmp_path, device="cpu").encode(pictures) == encoder.encode(pictures)


def test_a_name_that_timm_does_not_know() -> None:
    with_timm.imported()
    with pytest.raises(InputError, match="no model 'nothing'"):
        build_backbone("timm:nothing")
