"""Datasets of small pictures, decoded once into one file that many processes then read in a moment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import kinhash as kh
from kinhash.data.splits import Dataset, Split
from kinhash.files import replacing

_HELD_OUT = "-validation"
_EVERY = 10  # of each class, so many training pictures give one to validation


def load(name: str, root: Path | None, work: Path) -> Dataset:
    """The dataset `name` found in `root`, by way of `work/<name>.npz`.

    NAME-validation is NAME without its test pictures: a tenth of the training pictures of each class takes their place.
    Recipes are chosen there, so that the test pictures are looked at once.
    """
    if name.endswith(_HELD_OUT):
        return _validation(load(name.removesuffix(_HELD_OUT), root, work))
    cache = work / f"{name}.npz"
    if not cache.exists():
        _write(kh.dataset(name, root=root), cache)
    with np.load(cache, allow_pickle=False) as arrays:
        classes = tuple(json.loads(str(arrays["classes"])))
        splits = [
            Split(arrays[f"{part}_images"], arrays[f"{part}_labels"], classes) for part in ("train", "test")
        ]
    return Dataset(name, splits[0], splits[1], classes)


def _validation(dataset: Dataset) -> Dataset:
    labels = dataset.train.targets()
    order = np.argsort(labels, kind="stable")  # by class
    starts = np.searchsorted(labels[order], labels[order])
    held = np.zeros(len(labels), dtype=bool)
    held[order] = (np.arange(len(labels)) - starts) % _EVERY == 0
    train, test = (dataset.train.take(np.flatnonzero(part)) for part in (~held, held))
    return Dataset(dataset.name + _HELD_OUT, train, test, dataset.classes)


def _write(dataset: Dataset, cache: Path) -> None:
    arrays: dict[str, np.ndarray] = {"classes": np.array(json.dumps(dataset.classes))}
    for part, split in (("train", dataset.train), ("test", dataset.test)):
        decoded = split.in_memory()
        if decoded.broken or not isinstance(decoded.images, np.ndarray):
            raise SystemExit(
                f"{dataset.name}, {part}: {len(decoded.broken)} pictures could not be read, or sizes differ"
            )
        arrays[f"{part}_images"] = decoded.images
        arrays[f"{part}_labels"] = decoded.targets()
    cache.parent.mkdir(parents=True, exist_ok=True)
    with replacing(cache) as new, open(new, "wb") as file:
        np.savez(file, **arrays)
