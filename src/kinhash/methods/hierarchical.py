"""Hierarchical class-wise hashing: outputs gather around the mean of their class, and around that of its superclass.

Zhe, Ou-Yang, Chen, Yan: Semantic Hierarchy Preserving Deep Hashing for Large-Scale Image Retrieval (2019). With levels l
(classes, superclasses) and M_lj the mean output of class j of level l in the epoch before:

    L = sum_l mean_b -log softmax_j(-sigma_l / 2 |z_b - M_lj|^2)[y_bl]
      + mean_b (10 sum_k relu(|z_bk| - 1.1) + .1 |sgn z_b - z_b|^2) / d,   sigma = [1, .5]

Superclasses come from the distances between classes, by average linkage: a fifth as many as classes unless `superclasses`
says how many; the mean of a superclass is that of its classes' means. In the first epoch the means are random codes, since
there are none yet.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.losses import ClassificationLoss
from kinhash.methods.contract import PLAIN, Method, Objective, Problem
from kinhash.methods.levels import class_groups
from kinhash.methods.mixing import over_classes
from kinhash.models.network import Outputs


class HierarchicalObjective(Objective):
    """Softmax over squared distances to the means of two levels, and a pull to the corners of the cube."""

    means: Tensor
    sums: Tensor
    shares: Tensor
    groups: Tensor
    members: Tensor

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        own = problem.parameters
        self.sigmas = float(own["class_sigma"]), float(own["superclass_sigma"])
        self.bound, self.binary = float(own["bound_weight"]), float(own["binary_weight"])
        count = superclasses(problem)
        groups = torch.as_tensor(class_groups(problem.known_distances(), count))
        random = torch.randint(2, (problem.classes, problem.width), generator=problem.generator())
        self.register_buffer("groups", groups)
        # (G, C): which classes are in which group; the mean of a group is that of its classes' means
        self.register_buffer("members", torch.nn.functional.one_hot(groups, count).float().T.contiguous())
        self.register_buffer("means", 2.0 * random - 1)
        self.register_buffer("sums", torch.zeros(problem.classes, problem.width))
        self.register_buffer("shares", torch.zeros(problem.classes, 1))
        self.read = ClassificationLoss()

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """The means of the epoch that is over; of a class that was not seen, the mean it had."""
        seen = self.shares > 0
        self.means.copy_(torch.where(seen, self.sums / self.shares.clamp_min(1e-9), self.means))
        self.sums.zero_()
        self.shares.zero_()

    def forward(self, outputs: Outputs, targets: Targets) -> dict[str, Tensor]:
        """Terms "classes", "superclasses", "bound", "binary" and "head"."""
        z = outputs.z
        if self.training:
            shares = targets.soft(len(self.means), z.dtype)
            self.sums += shares.T @ z.detach()
            self.shares += shares.sum(0)[:, None]
        upper = self.members @ self.means / self.members.sum(1, keepdim=True)
        classes = (-self.sigmas[0] / 2 * _squared(z, self.means)).log_softmax(1)
        above = (-self.sigmas[1] / 2 * _squared(z, upper)).log_softmax(1)
        signs = torch.where(z >= 0, 1.0, -1.0).to(z.dtype)
        return {
            "classes": over_classes(targets, lambda y: -classes.gather(1, y[:, None])[:, 0]),
            "superclasses": over_classes(targets, lambda y: -above.gather(1, self.groups[y][:, None])[:, 0]),
            "bound": self.bound * (z.abs() - 1.1).relu().mean(),
            "binary": self.binary * (signs - z).square().mean(),
            "head": self.read(outputs.logits, targets),
        }


def superclasses(problem: Problem) -> int:
    """How many groups of classes there are above the classes."""
    return int(problem.parameters["superclasses"]) or max(2, round(problem.classes / 5))


def _squared(z: Tensor, means: Tensor) -> Tensor:
    """(B, C) squared Euclidean distances."""
    return z.square().sum(1, keepdim=True) - 2 * z @ means.T + means.square().sum(1)


def _check(problem: Problem) -> None:
    if not 2 <= superclasses(problem) < problem.classes:
        raise InputError(
            f"superclasses is from 2 to {problem.classes - 1}, fewer than the {problem.classes} classes, got "
            f"{superclasses(problem)}"
        )


HIERARCHICAL = Method(
    "outputs gather around the means of their class and of its superclass",
    HierarchicalObjective,
    paper="Zhe et al.",
    year=2019,
    formula="sum_l -log softmax_j(-s_l/2 |z - M_lj|^2)[y_l] + (10 relu(|z|-1.1) + .1 |sgn z - z|^2)/d",
    metric="l2",
    needs=frozenset({"labels", "hierarchy"}),
    recipe={**PLAIN, "activation": "linear"},
    parameters={
        "superclasses": 0,
        "class_sigma": 1.0,
        "superclass_sigma": 0.5,
        "bound_weight": 10.0,
        "binary_weight": 0.1,
    },
    check=_check,
)
