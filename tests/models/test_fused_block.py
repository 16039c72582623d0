"""The blocks' own gradients, with what the kernels compute in plain PyTorch (`plain_launch`), in double precision."""

from __future__ import annotations

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F
from models import plain_launch
from torch import Tensor, nn

from kinhash.models import build_backbone, fused_block
from kinhash.models.arranged import arranged
from kinhash.models.resnet_cifar import BasicBlock


def blocks(inputs: int, outputs: int) -> nn.Sequential:
    """Two blocks with uneven norms, in double precision."""
    torch.manual_seed(0)
    made = nn.Sequential(BasicBlock(inputs, outputs), BasicBlock(outputs, outputs))
    for parameter in made.parameters():
        if parameter.ndim == 1:
            nn.init.normal_(parameter, 0.5, 0.5)
    return made.double().to(memory_format=torch.channels_last)


def same(found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-11)


def same_modules(found: nn.Module, wanted: nn.Module) -> None:
    """Their gradients and statistics; gradients lie in memory as the weights do, or autograd copies them."""
    for one, two in zip(found.parameters(), wanted.parameters(), strict=True):
        same(one.grad, two.grad)
        assert one.grad.stride() == one.stride()
    for one, two in zip(found.buffers(), wanted.buffers(), strict=True):
        same(one, two)


@pytest.mark.parametrize("inputs", [32, 64])
@pytest.mark.parametrize("plan", list(itertools.product([False, True], repeat=3)))
def test_a_run_of_blocks_is_what_the_blocks_are(
    inputs: int, plan: tuple[bool, bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for outputs in {inputs, 64}:
        monkeypatch.setitem(fused_block.PLANS, outputs, fused_block.Plan(*plan))
        mine = blocks(inputs, outputs)
        wanted = copy.deepcopy(mine)
        x = torch.randn(2, inputs, 4, 4, dtype=torch.float64, requires_grad=True)
        g = torch.randn_like(wanted(x))
        wanted = copy.deepcopy(mine)
        expected = wanted(x)
        (dx,) = torch.autograd.grad(expected, x, g, retain_graph=True)
        expected.backward(g)
        x.grad = None
        found = fused_block.run(list(mine), x, plain_launch)
        found.backward(g)
        same(found, expected)
        same(x.grad, dx)
        same_modules(mine, wanted)


def test_a_norm_with_its_relu() -> None:
    torch.manual_seed(1)
    mine = nn.BatchNorm2d(32).double()
    nn.init.normal_(mine.weight)
    wanted = copy.deepcopy(mine)
    y = torch.randn(2, 32, 4, 4, dtype=torch.float64, requires_grad=True)
    other = y.detach().clone().requires_grad_()
    g = torch.randn_like(y)
    found = fused_block.norm_relu(y, mine, plain_launch)
    expected = F.relu(wanted(other))
    found.backward(g)
    expected.backward(g)
    same(found, expected)
    same(y.grad, other.grad)
    same_modules(mine, wanted)


@pytest.mark.parametrize("channels", [32, 64])
def test_arranged_weights_convolve_and_transpose(channels: int) -> None:
    torch.manual_seed(2)
    weights = torch.randn(2, channels, channels, 3, 3, dtype=torch.float64)
    x = torch.randn(1, channels, 4, 4, dtype=torch.float64)
    ahead, back = arranged(weights)
    for w, one, other in zip(weights, ahead, back, strict=True):
        same(plain_launch.convolve(x, one)[0], F.conv2d(x, w, padding=1))
        same(plain_launch.convolve(x, other)[0], F.conv_transpose2d(x, w, padding=1))


def test_the_network_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the condition of a GPU lifted, training uses the runs; evaluation does not."""
    torch.manual_seed(3)
    plain = build_backbone("resnet14w").double().to(memory_format=torch.channels_last)
    mine = copy.deepcopy(plain)
    mine.fused = True
    calls: list[int] = []

    def run(part: list[BasicBlock], x: Tensor) -> Tensor:
        calls.append(len(part))
        return original(part, x, plain_launch)

    original, norm_relu = fused_block.run, fused_block.norm_relu
    monkeypatch.setattr(fused_block, "fits", lambda norms, x: len(norms) == 13)
    monkeypatch.setattr(fused_block, "run", run)
    monkeypatch.setattr(fused_block, "norm_relu", lambda y, norm: norm_relu(y, norm, plain_launch))
    x = torch.randn(2, 3, 32, 32, dtype=torch.float64)
    found, expected = mine.train()(x), plain.train()(x)
    found.square().sum().backward()
    expected.square().sum().backward()
    same(found, expected)
    same_modules(mine, plain)
    assert calls == [2, 2, 2]
    same(mine.eval()(x), plain.eval()(x))
    assert len(calls) == 3


def test_what_does_not_fit_is_left_to_torch() -> None:
    norms = [nn.BatchNorm2d(32)]
    x = torch.randn(1, 32, 32, 32)
    assert not fused_block.fits(norms, x)  # on a CPU
    net = build_backbone("resnet8w")
    net.fused = True
    other = copy.deepcopy(net)
    other.fused = False
    x = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(net(x), other(x))
