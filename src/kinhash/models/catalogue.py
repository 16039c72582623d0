"""Backbones by name, and chains of two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from kinhash.errors import FormatError, InputError
from kinhash.models.backbone import Backbone
from kinhash.models.efficientnet_lite import EfficientNetLite0
from kinhash.models.mlp import MLP, Identity
from kinhash.models.resnet_cifar import CifarResNet
from kinhash.models.resnet_d import ResNet50D
from kinhash.models.timm_models import TimmBackbone
from kinhash.models.wide_resnet import WideResNet

KNOWN = "resnet110w, wrn16-8, wrn28-10 (any wrnD-W), resnet50d, efficientnet-lite0, timm:NAME, mlp, none"
_PRETRAINED = ("efficientnet-lite0", "timm:")


class Chain(Backbone):
    """`second(first(x))`: a frozen backbone and what was trained on its features become one."""

    def __init__(self, first: Backbone, second: Backbone) -> None:
        inputs = second.options.get("inputs")
        if second.preprocessing is not None or inputs != first.width:
            raise InputError(
                f"{second.name} takes {inputs or 'pictures'}, but {first.name} gives vectors of {first.width}: "
                "the two do not fit behind each other"
            )
        super().__init__("chain", second.width, first.preprocessing)
        self.options = {"parts": [first.card(), second.card()]}
        if "inputs" in first.options:
            self.options["inputs"] = first.options["inputs"]
        self.first, self.second = first, second

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


def build_backbone(name: str, **options: Any) -> Backbone:
    """The backbone `name`; `.width` says how many numbers it gives, `.preprocessing` what pictures it takes.

    Options: `mlp` takes `inputs`, `hidden`, `dropout`, `input_dropout`; `none` takes `inputs`; the pretrained ones take
    `pretrained`; `timm:NAME` also `size`.
    """
    if match := re.fullmatch(r"resnet(\d+)w", name):
        return _made(CifarResNet, name, options, depth=int(match[1]))
    if match := re.fullmatch(r"wrn-?(\d+)-(\d+)", name):
        return _made(WideResNet, name, options, depth=int(match[1]), factor=int(match[2]))
    if name.startswith("timm:"):
        return _made(TimmBackbone, name, options)
    plain: Mapping[str, Callable[..., Backbone]] = {
        "resnet50d": ResNet50D,
        "efficientnet-lite0": EfficientNetLite0,
        "mlp": MLP,
        "none": Identity,
    }
    if name not in plain:
        raise InputError(f"there is no backbone {name!r}; known are {KNOWN}")
    return _made(plain[name], None, options)


def is_pretrained(name: str) -> bool:
    """Whether the backbone brings weights."""
    return name.startswith(_PRETRAINED)


def from_card(card: Mapping[str, Any]) -> Backbone:
    """The architecture that `Backbone.card` describes, with random weights: none are downloaded or read."""
    card = dict(card)
    try:
        name = card.pop("name")
        if name == "chain":
            first, second = card["parts"]
            return Chain(from_card(first), from_card(second))
        if is_pretrained(name):
            card["pretrained"] = False
        return build_backbone(name, **card)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"the description of the backbone cannot be used: {error}") from error


def freeze(module: nn.Module) -> nn.Module:
    """Parameters without gradients, batch norms with their stored statistics."""
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module.eval()


def _made(
    make: Callable[..., Backbone], name: str | None, options: Mapping[str, Any], **parsed: int
) -> Backbone:
    try:
        return make(**({} if name is None else {"name": name}), **parsed, **options)
    except TypeError as error:
        raise InputError(f"backbone {name or make.__name__}: {error}") from error


__all__: Sequence[str] = ["Chain", "build_backbone", "freeze", "from_card", "is_pretrained"]
