"""The kernels of the fused blocks against plain PyTorch, launch by launch.

Where Triton is installed but no GPU, they can run in its interpreter, in minutes:
TRITON_INTERPRET=1 pytest tests/models/test_fused_launch.py
"""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest
import torch
from models import plain_launch
from torch import Tensor, nn

from kinhash.models import build_backbone
from kinhash.models.arranged import arranged

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = [] if INTERPRETED else [pytest.mark.gpu]


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The launches; with small tiles for the interpreter's small pictures."""
    pytest.importorskip("triton")
    from kinhash.models import fused_launch

    if INTERPRETED:
        for channels, tall in ((32, True), (64, False)):
            tile = fused_launch.Tile(16, 64, 4, 2, rows=2, tall=tall, parts=3)
            for table in (fused_launch.FORWARD, fused_launch.BACKWARD):
                monkeypatch.setitem(table, channels, tile)
            monkeypatch.setitem(fused_launch.WEIGHTS, channels, tile)
    return fused_launch


def numbers(*shape: int) -> Tensor:
    """Half precision on a GPU, whose products of float32 are coarse; the interpreter has no bfloat16."""
    x = torch.randn(shape) if INTERPRETED else torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    return x.contiguous(memory_format=torch.channels_last) if len(shape) == 4 else x


def pictures(channels: int, count: int) -> list[Tensor]:
    """As many batches, of a size that fills no tile."""
    torch.manual_seed(channels)
    shape = (3, channels, 4, 8) if INTERPRETED else (37, channels, 1024 // channels, 1024 // channels)
    return [numbers(*shape) for _ in range(count)]


def norm_of(x: Tensor) -> Tensor:
    """(4, C) scale, shift, mean, 1/deviation."""
    return torch.rand(4, x.shape[1], device=x.device) + 0.5


def same(found: Tensor, wanted: Tensor, tolerance: float | None = None) -> None:
    """Relative to the largest number: what is rounded to bfloat16 differs by half a unit, sometimes by one."""
    worst = tolerance or (1e-5 if found.dtype == torch.float32 else 1e-2)
    error = (found.double() - wanted.double()).abs().max() / wanted.double().abs().max()
    assert error < worst, f"{error:.1e}"


def same_parts(parts: Tensor, output: Tensor, other: Tensor) -> None:
    """The sums are those of the output as it was rounded."""
    total, product = parts.double().sum((0, 2))
    same(total, output.double().sum((0, 2, 3)), 1e-4)
    same(product, (output.double() * other.double()).sum((0, 2, 3)), 1e-4)


@pytest.mark.parametrize("channels", [32, 64])
def test_convolutions_with_norms_around(launch: Any, channels: int) -> None:
    x, y, act, skip = pictures(channels, 4)
    weights = torch.randn(1, channels, channels, 3, 3).to(x) / (3 * channels**0.5)
    ahead, back = arranged(weights)
    norm = norm_of(x)
    wide = [t.double() for t in (x, y, act, skip, norm, ahead[0], back[0])]
    for given, as_double in ((None, None), (norm, wide[4])):
        out, parts = launch.convolve(x, ahead[0], norm=given)
        same(out, plain_launch.convolve(wide[0], wide[5], norm=as_double)[0])
        same_parts(parts, out, out)
    out, parts = launch.convolve_back(x, back[0], y, norm=norm)
    same(out, plain_launch.convolve_back(wide[0], wide[6], wide[1], norm=wide[4])[0])
    same_parts(parts, out, y)
    out, parts = launch.convolve_back(x, back[0], y, act=act, skip=skip)
    same(out, plain_launch.convolve_back(wide[0], wide[6], wide[1], act=wide[2], skip=wide[3])[0])
    same_parts(parts, out, y)


@pytest.mark.parametrize("channels", [32, 64])
def test_gradients_of_weights(launch: Any, channels: int) -> None:
    x, dy = pictures(channels, 2)
    norm = norm_of(x)
    for given in (None, norm):
        found = torch.empty(channels, 3, 3, channels, device=x.device)
        wanted = torch.empty_like(found, dtype=torch.float64)
        launch.weight_gradient(x, dy, found, norm=given)
        as_double = None if given is None else given.double()
        plain_launch.weight_gradient(x.double(), dy.double(), wanted, norm=as_double)
        same(found, wanted, 1e-5 if INTERPRETED else 2e-3)


@pytest.mark.parametrize("channels", [32, 64])
def test_passes_over_the_numbers(launch: Any, channels: int) -> None:
    g, y, act, skip = pictures(channels, 4)
    norm = norm_of(y)
    wide = [t.double() for t in (g, y, act, skip, norm)]
    same(launch.activated(y, norm), plain_launch.activated(wide[1], wide[4]))
    same(launch.activated(y, norm, skip), plain_launch.activated(wide[1], wide[4], wide[3]))
    same(launch.through_norm(g, y, norm[:3]), plain_launch.through_norm(wide[0], wide[1], wide[4][:3]))
    same_parts(launch.squares(y), y, y)
    for given in ({"act": 2}, {"norm": 4}, {"act": 2, "skip": 3}):
        chosen = {name: (g, y, act, skip, norm)[i] for name, i in given.items()}
        out, parts = launch.below_relu(g, y, **chosen)
        same(
            out, plain_launch.below_relu(wide[0], wide[1], **{name: wide[i] for name, i in given.items()})[0]
        )
        same_parts(parts, out, y)
    half = launch.halved(y)
    same(half, plain_launch.halved(wide[1]))
    same(launch.unhalved(half, g), plain_launch.unhalved(half.double(), wide[0]))


def test_norms_settle(launch: Any) -> None:
    (y,) = pictures(32, 1)
    pixels = y.numel() // 32
    mine = nn.BatchNorm2d(32).to(y.device)
    other = copy.deepcopy(mine).double()
    wide = y.double()
    with torch.no_grad():
        found = launch.settle(launch.squares(y), mine, pixels)
        wanted = plain_launch.settle(plain_launch.squares(wide), other, pixels)
        same(found, wanted, 1e-5)
        same(mine.running_mean, other.running_mean, 1e-5)
        same(mine.running_var, other.running_var, 1e-5)
        gradients, expected = (
            torch.empty(2, 32, device=y.device),
            torch.empty(2, 32, device=y.device).double(),
        )
        pre = launch.settle_gradient(launch.squares(y), found, pixels, *gradients)
        same(pre, plain_launch.settle_gradient(plain_launch.squares(wide), wanted, pixels, *expected), 1e-4)
        same(gradients, expected, 1e-4)


@pytest.mark.gpu
def test_a_network_trains_alike() -> None:
    """Gradients in half precision differ; those of our kernels are as near to float32 as torch's own."""
    torch.manual_seed(0)
    net = build_backbone("resnet20w").cuda().to(memory_format=torch.channels_last).train()
    x = numbers(64, 3, 32, 32).float()
    g = torch.randn(64, 128, device="cuda")
    gradients = {}
    for name in ("float32", "torch", "fused"):
        one = copy.deepcopy(net)
        one.fused = name == "fused"
        with torch.autocast("cuda", torch.bfloat16, enabled=name != "float32"):
            out = one(x)
        out.backward(g.to(out.dtype))
        gradients[name] = [p.grad.flatten() for p in one.parameters() if p.grad is not None]
    away = {
        name: torch.stack(
            [(a - b).norm() / b.norm() for a, b in zip(found, gradients["float32"], strict=True)]
        )
        for name, found in gradients.items()
    }
    assert away["fused"].mean() < 1.2 * away["torch"].mean()
