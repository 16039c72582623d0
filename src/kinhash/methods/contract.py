"""What a method is: what is trained, and what retrieves. Data, backbone, loop and evaluation are shared.

An objective turns outputs and targets into weighted, named terms whose sum is minimised. Outputs and targets are those of
the joint batch of all processes, so an objective need not know how many there are. Its parameters are trained
with the network's; its buffers are part of every checkpoint. It must not wait for the device (`.item()`, `if tensor`),
because a whole step is captured as one graph; what changes between epochs changes in `begin_epoch`, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from kinhash.errors import InputError
from kinhash.models.coders import Coder
from kinhash.models.network import Reading
from kinhash.models.retrieval import Metric, Retrieval, Retrieves

# What a method cannot do without:
#   labels     class labels (captions alone do not do)
#   meaning    distances between targets: semantics of the classes, or target vectors
#   semantics  a distance between every two classes
#   hierarchy  semantics that group classes; equally different ones do not
#   vectors    `Problem.class_vectors`: those given, else made of the semantics
#   features   samples that are embeddings, or features of a frozen backbone: `Outputs.inputs`
Need = Literal["labels", "meaning", "semantics", "hierarchy", "vectors", "features"]

# Recipe overrides. The recipe for pictures multiplies the loss by 100, since the terms of kin are small numbers.
PLAIN: Mapping[str, Any] = {"loss_scale": 1.0}
UNMIXED: Mapping[str, Any] = {
    "loss_scale": 1.0,
    "cutmix": 0.0,
    "mixup": 0.0,
}  # for targets that must be one class


@dataclass(frozen=True)
class LossOptions:
    """Weights and shapes of the losses; a method without a term ignores its options."""

    sim_weight: float = 1.0
    kl_weight: float = 0.001
    class_weight: float = 0.01
    reg_weight: float = 0.01
    match_weight: float = 0.1  # of the term between pictures and sentences, where a text head is trained
    marginal_weight: float = 0.0
    gamma: float = 0.1
    rho: float = 2.0
    beta: float = 0.1  # the target distribution is 2 Beta(beta, beta) - 1
    kl_neighbours: Literal["all", "other_class"] = "all"
    smoothing: float = 0.0  # share of a label that goes to other classes, the nearer the more
    smoothing_beta: float = 10.0


@dataclass(frozen=True)
class Problem:
    """What there is to learn."""

    bits: int  # of the codes; 0 for methods that make none
    options: LossOptions
    classes: int = 0
    distances: Tensor | None = None  # (C, C) semantic distances in [0, 1]; None: between target vectors
    target_width: int = 0  # of the target vectors to regress to
    # (C, D): target vectors of the classes, where samples bring none, for methods that regress or need "vectors"
    class_vectors: Tensor | None = None
    sentences: bool = False  # there is a text head: `Outputs.text`, `Targets.captions`
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the method, with the caller's values
    width: int = 0  # of z; known to `build` and `fit`

    def generator(self) -> torch.Generator:
        """A source of random numbers for methods that draw fixed targets."""
        return torch.Generator().manual_seed(self.seed)

    def known_distances(self) -> Tensor:
        """The distances between classes, of a method that needs "semantics" or "hierarchy"."""
        assert self.distances is not None, "the method must need semantics"
        return self.distances

    def known_vectors(self) -> Tensor:
        """The vectors of classes, of a method that needs "vectors"."""
        assert self.class_vectors is not None, "the method must need vectors"
        return self.class_vectors


class Objective(nn.Module):
    """`forward(outputs: Outputs, targets: Targets) -> dict[str, Tensor]`: weighted terms by name."""

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Called before every epoch (0 is the first), also of a resumed run: change buffers in place, nothing else."""


class Seen(NamedTuple):
    """The trained network's outputs on training rows, in evaluation mode, on the CPU."""

    z: Tensor  # (n, width) float32
    logits: Tensor | None  # (n, classes) float32
    labels: Tensor | None  # (n,) int64


@dataclass(frozen=True)
class Fitting:
    """What a method fits in closed form, once the training is over."""

    problem: Problem
    objective: nn.Module | None  # the trained one, on the device of the training
    seen: Callable[[], Seen]  # runs the network over the training rows (100,000 of them at most)


@dataclass(frozen=True)
class Method:
    """One line of the table of methods."""

    about: str
    build: (
        Callable[[Problem], nn.Module] | None
    )  # the objective; None: nothing is trained, features are given
    paper: str = ""  # authors, in words that find it
    year: int = 0
    formula: str = ""  # in one line
    retrieves: Retrieves = "both"  # "floats" is refused where codes are asked for
    metric: Metric = "l1"  # of floats; "cosine" gives unit vectors
    needs: frozenset[Need] = frozenset()
    recipe: Mapping[str, Any] = field(default_factory=dict)  # what it wants otherwise than the derived recipe
    parameters: Mapping[str, float | int | str | bool] = field(default_factory=dict)  # names no recipe has
    width: Callable[[Problem], int] | None = None  # of z; None: as many as bits
    reading: Reading = "linear"  # how the class head sees z
    shapes_by_class: bool = False  # the class head's gradient reaches z; else the head only reads it
    regresses: bool = False  # there is a head that regresses to target vectors
    matches_text: bool = False  # a text head can be trained with it
    check: Callable[[Problem], None] | None = (
        None  # an InputError where it cannot be; before anything is computed
    )
    fit: Callable[[Fitting], Coder] | None = None  # what retrieves in place of z, attached after the training

    def retrieval(self, name: str) -> Retrieval:
        """What an encoder trained by this method, called `name`, retrieves with."""
        return Retrieval(self.retrieves, self.metric, name)

    def card(self) -> dict[str, Any]:
        """What there is to know about it, for json."""
        return {
            "about": self.about,
            "paper": self.paper,
            "year": self.year,
            "formula": self.formula,
            "retrieves": self.retrieves,
            "metric": self.metric,
            "needs": sorted(self.needs),
            "parameters": dict(self.parameters),
        }

    def split_options(self, name: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The method's own parameters, those in `given` replaced; and the rest of `given`, which concern the recipe."""
        own = dict(self.parameters)
        for key in own.keys() & given.keys():
            own[key] = _like(own[key], given[key], f"the parameter {key} of {name}")
        return own, {key: value for key, value in given.items() if key not in own}


def _like(default: Any, value: Any, what: str) -> Any:
    """`value` as the type of the default; whole numbers are numbers, but truth values are not."""
    kind = type(default)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise InputError(f"{what} takes a {kind.__name__}, got {value!r}")
    return value
