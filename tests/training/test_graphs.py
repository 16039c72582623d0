from __future__ import annotations

import pytest
import torch
from torch import nn
from training import toy
from training.test_step import X, Y, step

from kinhash.errors import InputError
from kinhash.models import build_backbone
from kinhash.training.graphs import CompiledStep, accelerated, as_written, repeated_blocks
from kinhash.training.recipes import Recipe


def test_the_blocks_of_residual_networks_are_found() -> None:
    assert len(repeated_blocks(build_backbone("resnet14w"))) == 6
    assert len(repeated_blocks(build_backbone("wrn16-1"))) == 6
    assert len(repeated_blocks(build_backbone("resnet50d"))) == 16
    assert repeated_blocks(nn.Linear(2, 2)) == []
    assert repeated_blocks(build_backbone("mlp", inputs=3)) == []


def test_on_a_cpu_the_step_is_as_written() -> None:
    one, _ = step(Recipe())
    assert accelerated(one, "auto", steps=10**6) is one
    assert accelerated(one, "off", steps=1) is one
    with pytest.raises(InputError, match="needs a CUDA device"):
        accelerated(one, "graph", steps=1)


def test_what_cannot_be_compiled_runs_as_it_is() -> None:
    one, net = step(Recipe(lr=0.1, momentum=0.0, weight_decay=0.0, loss_scale=1.0))
    run = CompiledStep(one)

    def broken(*args: object) -> None:
        raise RuntimeError("no compiler here\nlong story")

    net._compiled_call_impl = broken
    with pytest.warns(
        RuntimeWarning, match=r"compiling the network failed \(RuntimeError: no compiler here\)"
    ):
        run(X, Y)
    run(X, Y)
    assert one.count == 2
    assert net.bias.item() == pytest.approx(-0.2)


def test_compiling_is_taken_back() -> None:
    blocks = repeated_blocks(net := build_backbone("resnet14w"))
    for block in blocks:
        block._compiled_call_impl = block.forward
    net.fused = True
    as_written(net)
    assert all(block._compiled_call_impl is None for block in blocks)
    assert not net.fused


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore", "error:compiling")  # torch's compiler does what torch advises against
def test_compiled_steps_train_alike() -> None:
    settings = {"backbone": "resnet14w", "epochs": 2, "batch": 32, "recipe": "paper"}
    plain = toy.run(toy.pictures(), **settings)
    compiled = toy.run(toy.pictures(), **settings, accelerate="compile")
    for a, b in zip(toy.weights(plain).values(), toy.weights(compiled).values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-2)
