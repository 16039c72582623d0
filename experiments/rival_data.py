"""The data of the rivals' tables: CIFAR-100 as pictures or as features, with all classes or without some."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pictures
from numpy.typing import NDArray

import kinhash as kh
from kinhash.data.splits import Dataset, Split
from kinhash.files import replacing
from kinhash.models.catalogue import build_backbone
from kinhash.models.features import extract_features

BACKBONE = "efficientnet-lite0"
_PIXELS = 128  # what its pictures of 32 pixels are enlarged to; 224 take three times as long
_FEATURES, _UNSEEN = "-features", "-unseen"
# one of each of the twenty coarse classes, chosen before anything was trained: their siblings are seen
UNSEEN = [
    "beaver",
    "ray",
    "tulip",
    "bottle",
    "apple",
    "lamp",
    "chair",
    "beetle",
    "lion",
    "castle",
    "forest",
    "camel",
    "fox",
    "snail",
    "woman",
    "snake",
    "hamster",
    "oak_tree",
    "bicycle",
    "tractor",
]


class Apart(Dataset):
    """A data set whose parts show different classes; `classes` are those of both."""

    def __post_init__(self) -> None:
        shown = {*self.train.classes, *self.test.classes}
        if shown != set(self.classes) or set(self.train.classes) & set(self.test.classes):
            raise SystemExit(f"{self.name}: every class belongs to one of the two parts")


def load(options: argparse.Namespace) -> Dataset:
    """What `--data` names: `cifar100`, `cifar100-features`, and both `-unseen`."""
    name = options.data
    plain = name.removesuffix(_FEATURES).removesuffix(_UNSEEN)
    data = pictures.load(plain, options.root, options.work)
    if name.endswith(_FEATURES):
        data = _with_features(data, options.work / f"{plain}{_FEATURES}.npz", options.device)
    return without_classes(data, UNSEEN) if _UNSEEN in name else data


def without_classes(data: Dataset, names: list[str]) -> Dataset:
    """Train on the pictures of all other classes, test on those of the named ones."""
    held = np.isin(np.array(data.classes), names)
    if held.sum() != len(names):
        raise SystemExit(f"{data.name} lacks {sorted(set(names) - set(data.classes))}")
    return Apart(data.name, of_classes(data.train, ~held), of_classes(data.test, held), data.classes)


def of_classes(split: Split, kept: NDArray[np.bool_]) -> Split:
    """The pictures of the kept classes, renumbered."""
    part = split.take(np.flatnonzero(kept[split.targets()]))
    numbers = np.cumsum(kept) - 1
    names = tuple(name for name, keep in zip(split.classes, kept, strict=True) if keep)
    return replace(part, labels=numbers[part.targets()], classes=names)


def _with_features(data: Dataset, cache: Path, device: str | None) -> Dataset:
    """The features of every picture, computed once and kept beside the pictures."""
    if not cache.exists():
        backbone = build_backbone(BACKBONE)
        assert backbone.preprocessing is not None
        backbone.preprocessing = replace(backbone.preprocessing, size=_PIXELS)
        found = {
            part: extract_features(backbone.eval(), split, device=device, progress=True).vectors
            for part, split in (("train", data.train), ("test", data.test))
        }
        with replacing(cache) as new, open(new, "wb") as file:
            np.savez(file, **{part: _rows(vectors).astype(np.float16) for part, vectors in found.items()})
    with np.load(cache, allow_pickle=False) as arrays:
        parts = {
            part: replace(split, images=None, vectors=arrays[part].astype(np.float32))
            for part, split in (("train", data.train), ("test", data.test))
        }
    return replace(data, **parts)


def _rows(vectors: NDArray[np.float32] | None) -> NDArray[np.float32]:
    assert vectors is not None
    return vectors


def name_vectors(data: Dataset, cache: Path) -> NDArray[np.float32]:
    """(C, D) sentence embeddings of the names of the training classes: what a word vector is to DeViSE."""
    if not cache.exists():
        names = [f"a photo of a {name.replace('_', ' ')}" for name in data.classes]
        with replacing(cache) as new, open(new, "wb") as file:
            np.save(file, kh.text_encoder("minilm").encode(names))
    vectors: NDArray[np.float32] = np.load(cache, allow_pickle=False)
    return vectors[[data.classes.index(name) for name in data.train.classes]]


def features_of(folder: Path, data: Dataset, device: str | None) -> Dataset:
    """The features that a trained network, kept as `folder/run/encoder`, has behind its backbone."""
    encoder = kh.load_encoder(folder / "run" / "encoder", device=device)
    backbone = encoder.network.backbone
    parts = {
        part: extract_features(backbone, split, device=encoder.device, batch=500)
        for part, split in (("train", data.train), ("test", data.test))
    }
    return replace(data, **parts)
