"""Frozen features: every picture goes through the backbone once, then only what stands on its features learns."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kinhash.data.images import Broken, BrokenPictureWarning, told
from kinhash.data.splits import Split
from kinhash.models.backbone import Backbone
from kinhash.models.inference import run, stacked
from kinhash.training.distributed import placed

_BATCH = 128


def feature_split(
    split: Split, backbone: Backbone, device: torch.device, *, progress: bool = False, workers: int = 0
) -> tuple[Split, NDArray[np.int64]]:
    """The features of all pictures, then those of their mirror images, as one split of vectors.

    Also the row of `split` that each comes from; pictures that cannot be read are left out and listed.
    """
    placed(backbone, device)
    broken: list[Broken] = []

    def both(x: Tensor) -> Tensor:
        return torch.cat([backbone(x), backbone(x.flip(3))], dim=1)

    parts = run(
        backbone,
        both,
        split,
        backbone.preprocessing,
        batch=_BATCH,
        half=device.type == "cuda",
        workers=workers,
        progress=progress,
        broken=broken,
    )
    positions, pairs = stacked(parts, 2 * backbone.width)
    if broken:
        warnings.warn(told(broken), BrokenPictureWarning, stacklevel=3)
    rows = np.concatenate([positions, positions])
    found = dataclasses.replace(
        split,
        images=None,
        vectors=np.concatenate([pairs[:, : backbone.width], pairs[:, backbone.width :]]),
        labels=None if split.labels is None else split.labels[rows],
        ids=[f"{split.ids[i]}{tail}" for tail in ("", " mirrored") for i in positions],
        captions=None,
        broken=[*split.broken, *broken],
    )
    return found, rows
