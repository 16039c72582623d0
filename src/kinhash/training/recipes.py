"""Recipes: every number of a training run, derived from what is trained on what. The user's one dial is the code length."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from kinhash.arrays import checked_choice
from kinhash.data.augment import Augmentation
from kinhash.errors import InputError
from kinhash.methods.contract import LossOptions
from kinhash.models.hash_layer import Activation
from kinhash.training.schedule import Schedule

Kind = Literal["vectors", "small", "large"]  # embeddings; pictures up to 64 pixels; larger pictures
SMALL = 64
# vectors are no pictures: nothing is shifted, mirrored or cut out
_UNCHANGED: dict[str, Any] = {"crop": 0, "flip": False, "cutout": 0, "cutmix": 0.0, "flip_average": False}
_BACKBONES: dict[str, dict[Kind, str]] = {
    "modern": {"vectors": "mlp", "small": "wrn16-8", "large": "efficientnet-lite0"},
    "paper": {"vectors": "mlp", "small": "resnet110w", "large": "resnet50d"},
}


@dataclass(frozen=True)
class Recipe(LossOptions):
    """Everything that shapes a run besides data, semantics, method, backbone, bits and seed."""

    # optimisation
    optimiser: Literal["sgd", "adam", "adamw"] = "sgd"
    lr: float = 0.2  # for `lr_batch` samples a step; scaled to the batch that is used
    lr_batch: int = 512
    momentum: float = 0.9
    weight_decay: float = 5e-4
    decay_all: bool = False  # decay biases and normalisations as well
    schedule: Schedule = "one-cycle"
    warm: float = 0.2  # share of the steps with a rising rate (one-cycle)
    decay_every: float = 1.0  # share of the steps between two drops to a tenth (steps)
    clip: float = 0.0  # largest norm of the gradient; 0: no limit
    loss_scale: float = 100.0  # on the whole loss: its terms are small numbers
    epochs: int = 100
    batch: int = 512
    # network
    activation: Activation = "tanh"
    frozen: bool = False  # train on features of the backbone, computed once
    head: Literal["mlp", "none"] = (
        "mlp"  # what stands between embeddings (or frozen features) and the hash layer
    )
    hidden: int = 1024  # width of the hidden layer between embeddings and codes
    dropout: float = 0.0  # behind that layer
    input_dropout: float = 0.0  # before it, of embeddings, frozen features and sentence vectors
    # data
    whole: bool = False  # large pictures are squeezed into the network's square instead of cut to it
    crop: int = 4
    flip: bool = True
    cutout: int = 10
    randaugment: int = 0
    magnitude: float = 9.0
    cutmix: float = 0.5  # share of the batches
    mixup: float = 0.0  # share of the batches
    area: float = 1.0
    # afterwards
    ema: float = 0.999  # decay of the averaged weights; 0: keep the last weights
    flip_average: bool = True  # encode a picture and its mirror image, average

    def augmentation(self) -> Augmentation:
        """What training samples undergo."""
        names = [field.name for field in dataclasses.fields(Augmentation) if hasattr(self, field.name)]
        return Augmentation(**{name: getattr(self, name) for name in names})

    def ema_decay(self, steps_per_epoch: int) -> float:
        """No longer a memory than a twentieth of the run: early weights must not linger in a short one."""
        return min(self.ema, 1 - 1 / max(1.0, steps_per_epoch * self.epochs / 20))

    def rate(self, batch: int) -> float:
        """The peak learning rate for steps of `batch` samples in all.

        SGD: in proportion to the batch (Goyal et al. 2017); Adam, whose steps have a fixed length: to its square root
        (Malladi et al. 2022).
        """
        ratio = batch / self.lr_batch
        return self.lr * (ratio if self.optimiser == "sgd" else math.sqrt(ratio))

    def with_options(self, options: Mapping[str, Any]) -> Recipe:
        """The recipe with some values changed by name; a name or value that cannot be is an error."""
        kinds = {field.name: type(getattr(self, field.name)) for field in dataclasses.fields(self)}
        for name, value in options.items():
            if name not in kinds:
                close = difflib.get_close_matches(name, kinds, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f". There are: {', '.join(kinds)}"
                raise InputError(f"there is no training option {name!r}{hint}")
            if not _fits(value, kinds[name]):
                raise InputError(f"the training option {name} takes a {kinds[name].__name__}, got {value!r}")
            check_choice(name, value)
        cast = {name: kinds[name](value) for name, value in options.items()}
        return _checked(dataclasses.replace(self, **cast))


def derive(name: str, kind: Kind, n: int, *, frozen: bool = False, captions: bool = False) -> Recipe:
    """The recipe called `name` for `n` samples of a kind; on frozen features they count as vectors."""
    checked_choice(name, tuple(_BACKBONES), "recipe")
    if frozen:
        kind = "vectors"
    if name == "paper":
        return dataclasses.replace(_paper(kind, captions), frozen=frozen)
    base = _modern(kind)
    batch = max(2, min(n, base.batch, max(16, _power_of_two_below(n // 4))))
    epochs = base.epochs
    if kind == "vectors":  # enough steps for a small set, few passes over a large one
        epochs = max(5, min(100, round(8000 / max(1, n // batch))))
    return dataclasses.replace(base, frozen=frozen, batch=batch, epochs=epochs)


def default_backbone(name: str, kind: Kind) -> str:
    """What encodes this kind of data when the user names nothing."""
    checked_choice(name, tuple(_BACKBONES), "recipe")
    return _BACKBONES[name][kind]


def _modern(kind: Kind) -> Recipe:
    if kind == "vectors":
        return Recipe(
            optimiser="adamw", lr=2e-3, weight_decay=0.05, clip=1.0, loss_scale=1.0, mixup=0.5, **_UNCHANGED
        )
    if kind == "large":
        return Recipe(crop=0, cutout=0, area=0.25)
    return Recipe()


def _paper(kind: Kind, captions: bool) -> Recipe:
    """Arponen & Bishop 2020, section 4: CIFAR-100 (Adam), ImageNet (SGD), Conceptual Captions (Adam)."""
    common: dict[str, Any] = {
        "weight_decay": 1e-4,
        "decay_all": True,
        "loss_scale": 1.0,
        "kl_weight": 0.01,
        "cutmix": 0.0,
        "ema": 0.0,
        "flip_average": False,
    }
    if kind == "vectors":
        common |= _UNCHANGED
    else:
        common |= {"cutout": 0} | ({"crop": 0, "area": 0.08} if kind == "large" else {})
    if captions:
        return Recipe(
            optimiser="adam", lr=3e-4, lr_batch=256, batch=256, epochs=120, schedule="constant", **common
        )
    if kind == "large":
        return Recipe(
            lr=0.05, lr_batch=256, batch=256, epochs=320, schedule="steps", decay_every=100 / 320, **common
        )
    return Recipe(optimiser="adam", lr=5e-4, epochs=500, schedule="constant", **common)


def _checked(recipe: Recipe) -> Recipe:
    low = {"lr": 0.0, "epochs": 1, "batch": 1, "clip": 0.0, "loss_scale": 0.0, "weight_decay": 0.0}
    for name, bound in low.items():
        if not getattr(recipe, name) >= bound:
            raise InputError(f"the training option {name} is at least {bound}, got {getattr(recipe, name)}")
    for name in ("smoothing", "ema", "warm", "decay_every"):
        if not 0 <= getattr(recipe, name) <= 1:
            raise InputError(
                f"the training option {name} is a share between 0 and 1, got {getattr(recipe, name)}"
            )
    if recipe.batch < 2:
        raise InputError("a batch of one has no pairs to compare; use a batch of at least 2")
    return recipe


def check_choice(name: str, value: Any) -> None:
    """Some options are one of a few words."""
    allowed = get_args(get_type_hints(Recipe)[name])
    if allowed:
        checked_choice(value, allowed, name)


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _power_of_two_below(n: int) -> int:
    return 1 << max(0, n.bit_length() - 1)
