from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from kinhash.feeding.targets import Targets
from kinhash.models.network import Outputs
from kinhash.training.optimisers import build_optimiser, set_learning_rate
from kinhash.training.recipes import Recipe
from kinhash.training.step import Step, Trainee

CPU = torch.device("cpu")


class Quadratic(nn.Module):
    """Terms whose gradients are known: `2 mean z` and `- mean z`."""

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        return {"up": 2 * outputs.z.mean(), "down": -outputs.z.mean()}


class Doubling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([[3.0]]))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Outputs:
        return Outputs(x @ self.scale + self.bias, None, None)


def step(recipe: Recipe) -> tuple[Step, Doubling]:
    trainee = Trainee(Doubling(), Quadratic())
    optimiser = build_optimiser(trainee, recipe, CPU)
    return Step(trainee, optimiser, CPU, loss_scale=recipe.loss_scale, clip=recipe.clip), trainee.network  # type: ignore[return-value]


X, Y = torch.full((4, 1), 2.0), Targets(torch.zeros(4, dtype=torch.int64))


def test_a_step_of_sgd_by_hand() -> None:
    one, net = step(Recipe(lr=0.1, momentum=0.0, weight_decay=0.5, loss_scale=10.0))
    one(X, Y)
    assert net.scale.item() == pytest.approx(3 - 0.1 * (10 * 2 + 0.5 * 3))
    assert net.bias.item() == pytest.approx(-0.1 * 10)  # a bias does not decay
    assert all(p.grad is None for p in net.parameters())
    assert one.means() == pytest.approx({"loss": 6.0, "up": 12.0, "down": -6.0})
    set_learning_rate(one.optimiser, 0.0)
    one(X, Y)
    second = X[0, 0].item() * net.scale.item() + net.bias.item()
    assert one.means()["loss"] == pytest.approx((6.0 + second) / 2)
    one.begin()
    assert one.means() == {}


def test_clipping_limits_the_joint_norm() -> None:
    one, net = step(Recipe(lr=1.0, momentum=0.0, weight_decay=0.0, loss_scale=1.0, clip=0.5))
    one(X, Y)
    moved = torch.tensor([net.scale.item() - 3, net.bias.item()])
    assert moved.norm().item() == pytest.approx(0.5, rel=1e-4)
    assert moved[0] / moved[1] == pytest.approx(2.0)


@pytest.mark.parametrize(("name", "kind"), [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)])
def test_adam(name: str, kind: type[torch.optim.Adam]) -> None:
    one, net = step(Recipe(optimiser=name, lr=0.1, weight_decay=0.0, loss_scale=1.0))  # type: ignore[arg-type]
    assert type(one.optimiser) is kind
    one(X, Y)
    assert net.scale.item() == pytest.approx(
        3 - 0.1, abs=1e-6
    )  # the first step of Adam has the length of the rate


def test_everything_decays_in_the_papers_recipe() -> None:
    one, net = step(Recipe(lr=0.1, momentum=0.0, weight_decay=0.5, loss_scale=0.0, decay_all=True))
    with torch.no_grad():
        net.bias.fill_(1.0)
    one(X, Y)
    assert net.bias.item() == pytest.approx(0.95)
    assert net.scale.item() == pytest.approx(2.85)


class Precise(nn.Module):
    """What the objective is computed in."""

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        product = outputs.z @ outputs.z.T
        assert product.dtype == torch.float32
        return {"product": product.mean()}


def test_objectives_are_computed_in_float32_though_the_network_is_not() -> None:
    trainee = Trainee(Doubling(), Precise())
    with torch.autocast("cpu", torch.bfloat16):
        assert (X @ X.T).dtype == torch.bfloat16
        trainee(X, Y)
