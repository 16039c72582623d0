"""Features of a frozen backbone, computed once: a head is then trained on vectors instead of on pictures."""

from __future__ import annotations

import warnings
from dataclasses import replace

import torch

from kinhash.data.images import Broken, BrokenPictureWarning, told
from kinhash.data.splits import Split
from kinhash.models.backbone import Backbone
from kinhash.models.inference import Progress, run, stacked


def extract_features(
    backbone: Backbone,
    split: Split,
    *,
    batch: int = 64,
    device: torch.device | str | None = None,
    flip: bool = False,
    half: bool = False,
    workers: int = 0,
    progress: Progress = False,
) -> Split:
    """The same rows with `vectors` (n, width) in place of pictures; broken pictures are left out, listed and told."""
    broken: list[Broken] = []
    if device is not None:
        backbone = backbone.to(device)
    parts = run(
        backbone,
        backbone,
        split,
        backbone.preprocessing,
        batch=batch,
        flip=flip,
        half=half,
        workers=workers,
        progress=progress,
        broken=broken,
    )
    positions, vectors = stacked(parts, backbone.width)
    if broken:
        warnings.warn(told(broken), BrokenPictureWarning, stacklevel=2)
    kept = split.take(positions)
    return replace(kept, images=None, vectors=vectors, broken=[*split.broken, *broken])
