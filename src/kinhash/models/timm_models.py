"""Any model of the `timm` library as a backbone."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import InputError, MissingDependencyError, require
from kinhash.models.backbone import Backbone


class TimmBackbone(Backbone):
    """`timm:NAME`: the pooled features of timm's model NAME, with the preprocessing its weights were trained with."""

    def __init__(self, name: str, pretrained: bool = True, size: int | None = None) -> None:
        timm = _timm()
        known = name.removeprefix("timm:")
        if not timm.is_model(known):
            raise InputError(f"timm has no model {known!r}; timm.list_models() lists what there is")
        net = timm.create_model(known, pretrained=pretrained, num_classes=0)
        preprocessing = _preprocessing(net.pretrained_cfg, size)
        super().__init__(name, net.num_features, preprocessing, {} if size is None else {"size": size})
        self.net = net
        # some architectures pool to another width than they say
        self.width = int(getattr(net, "head_hidden_size", net.num_features))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


def _timm() -> ModuleType:
    try:
        return require("timm", "timm")
    except RuntimeError as error:  # torchvision looks for operators of its own build of torch
        raise MissingDependencyError(
            f"timm could not be imported, because torchvision and torch {torch.__version__} are of different builds "
            f"({error}); install both from the same place, e.g. both for the CPU"
        ) from error


def _preprocessing(config: dict[str, Any], size: int | None) -> Preprocessing:
    shape = config.get("test_input_size") or config["input_size"]
    zoom = 1 / float(config.get("test_crop_pct") or config.get("crop_pct") or 1)
    return Preprocessing(size or int(shape[-1]), tuple(config["mean"]), tuple(config["std"]), max(zoom, 1.0))
