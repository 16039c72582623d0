"""Folders of pictures: one folder per class, with or without a training and a test part above."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinhash.data.download import absent, places
from kinhash.data.picture_tables import labelled_pictures, parquet_files
from kinhash.data.splits import TEST_NAMES, TRAIN_NAMES, Dataset, Split
from kinhash.data.walking import is_picture, pictures_below
from kinhash.errors import FormatError, InputError, NotFoundError


def image_folder(root: str | os.PathLike[str], name: str = "folder") -> Dataset:
    """`root/CLASS/...` (all of it is the training part) or `root/train/CLASS/...` and `root/test|val/CLASS/...`.

    The class of a picture is the first folder below its part; classes are in alphabetical order over both parts.
    Pictures without any class folder make a data set without labels.
    """
    path = Path(root)
    if not path.is_dir():
        raise NotFoundError(f"there is no folder {path}")
    train = next((path / part for part in TRAIN_NAMES if (path / part).is_dir()), None)
    test = next((path / part for part in TEST_NAMES if (path / part).is_dir()), None)
    parts = [_labelled(train or path), _labelled(test) if train is not None and test is not None else []]
    if not parts[0]:
        raise InputError(f"{train or path} holds no pictures: no file below it has one of the usual suffixes")
    return _assembled(name, parts, path)


def imagenet(root: str | os.PathLike[str] | None = None) -> Dataset:
    """ILSVRC 2012 as `train/WNID/*.JPEG` and `val/WNID/*.JPEG`; the classes are the WordNet ids, ascending."""
    searched = places("imagenet", root)
    for place in searched:
        if (place / "train").is_dir() and (place / "val").is_dir():
            found = image_folder(place, "imagenet")
            if not found.classes or found.test.labels is None:
                raise FormatError(
                    f"{place}: every picture of train/ and val/ must lie in a folder named after its WordNet id; "
                    "move the validation pictures there first"
                )
            return found
    raise absent("imagenet", searched, "the folders train/WNID and val/WNID of ILSVRC 2012")


def tiny_imagenet(root: str | os.PathLike[str] | None = None) -> Dataset:
    """Tiny-ImageNet: parquet files with `image` and `wnid`, or the original folders; for research.

    The original keeps its validation pictures in one folder, with `val_annotations.txt` beside it.
    """
    searched = places("tiny-imagenet", root)
    searched += [place / "tiny-imagenet-200" for place in searched]
    for place in searched:
        if parquet_files(place, "train") and parquet_files(place, "val"):
            return _tiny_parquet(place)
        if (place / "val" / "val_annotations.txt").is_file():
            train = _labelled(place / "train")
            return _assembled("tiny-imagenet", [train, _annotated(place / "val")], place)
    raise absent("tiny-imagenet", searched, "train-*.parquet and val-*.parquet, or the folders train and val")


Labelled = list[tuple[Path, str | None]]


def _labelled(part: Path) -> Labelled:
    """Every picture below `part` with the name of the folder that it lies in, directly below `part`."""
    found: Labelled = []
    loose = 0
    for path in pictures_below(part):
        below = path.relative_to(part).parts
        loose += len(below) == 1
        found.append((path, below[0] if len(below) > 1 else None))
    if 0 < loose < len(found):
        first = next(path for path, label in found if label is None)
        raise InputError(
            f"{part} holds {loose} pictures beside its class folders, {first.name} for one: move them into a folder"
        )
    return found


def _annotated(part: Path) -> Labelled:
    labels = {}
    for number, line in enumerate(
        (part / "val_annotations.txt").read_text(encoding="utf-8").splitlines(), start=1
    ):
        fields = line.split("\t")
        if len(fields) < 2:
            raise FormatError(
                f"{part / 'val_annotations.txt'}, line {number}: no file and id separated by a tab"
            )
        labels[fields[0]] = fields[1]
    files = [path for path in sorted((part / "images").iterdir()) if is_picture(path.name)]
    missing = [path.name for path in files if path.name not in labels]
    if missing:
        raise FormatError(f"{part / 'val_annotations.txt'} does not name {missing[0]}")
    return [(path, labels[path.name]) for path in files]


def _assembled(name: str, parts: Sequence[Labelled], root: Path) -> Dataset:
    if any((label is None) != (parts[0][0][1] is None) for part in parts for _, label in part):
        raise InputError(f"{root}: one of the two parts has class folders, the other has none")
    classes = tuple(sorted({label for part in parts for _, label in part if label is not None}))
    number = {label: i for i, label in enumerate(classes)}
    splits = []
    for part in parts:
        labels = np.array([number[label] for _, label in part if label is not None], dtype=np.int64)
        ids = [path.relative_to(root).as_posix() for path, _ in part]
        splits.append(Split([path for path, _ in part], labels if classes else None, classes, ids))
    return Dataset(name, splits[0], splits[1], classes)


def _tiny_parquet(folder: Path) -> Dataset:
    parts = {split: labelled_pictures(folder, split, "wnid") for split in ("train", "val")}
    classes = tuple(sorted({str(wnid) for _, _, wnids in parts.values() for wnid in wnids}))
    number = {label: i for i, label in enumerate(classes)}
    splits = {}
    for split, (contents, paths, wnids) in parts.items():
        labels = np.array([number[wnid] for wnid in wnids], dtype=np.int64)
        ids = [f"{split}/{path or i}" for i, path in enumerate(paths)]
        splits[split] = Split(list(contents), labels, classes, ids).in_memory()
    return Dataset("tiny-imagenet", splits["train"], splits["val"], classes)
