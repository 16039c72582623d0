"""What codes and vectors stand for, read from the files beside them or from others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.data.embeddings import embeddings, load_array
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.items import CodedItems

Array = NDArray[Any]


def read_with_labels(path: Path, labels: Path | None) -> tuple[Codes | Array, Array]:
    """Codes or vectors, and what each stands for: (n,) class names, or (n, D) target vectors."""
    things: Any
    beside: Any = None
    if path.is_dir():
        items = CodedItems.load(path)
        things, beside = items.codes, items.labels
    elif path.is_file():
        split = embeddings(path).train
        things = split.vectors
        beside = None if split.labels is None else [split.classes[label] for label in split.labels]
    else:
        raise NotFoundError(f"there is no folder of codes and no file of vectors {path}")
    given = np.asarray(beside) if labels is None else read_labels(labels)
    if given.ndim == 0:
        raise InputError(f"{path} has no labels beside it: encode with --part, or pass --labels")
    if len(given) != len(things):
        raise InputError(
            f"{labels or path} holds {len(given)} labels for {len(things)} items: one each is needed"
        )
    return things, given


def read_labels(path: Path) -> Array:
    """(n,) class names, one per line, or the array of an npy file: class numbers or target vectors."""
    if not path.is_file():
        raise NotFoundError(f"there is no file of labels {path}")
    if path.suffix != ".npy":
        return np.array(_lines(path))
    array = load_array(path)
    if array.ndim == 1 and array.dtype.kind in "iuU":
        return array.astype(str)
    if array.ndim == 2 and array.dtype.kind in "fiu":
        return array
    raise InputError(
        f"{path} holds {array.shape} of {array.dtype}: labels are (n,) numbers or (n, D) target vectors"
    )


def classes_of(own: Array, others: Array | None) -> list[str]:
    """The class names in use; numbers in their order, names in the alphabet's."""
    if others is not None and others.ndim != 1:
        raise InputError("the queries have classes, the database has target vectors")
    names = set(own.tolist()) | set(() if others is None else others.tolist())
    numbers = all(name.isdecimal() for name in names)
    return sorted(names, key=lambda name: (int(name) if numbers else 0, name))


def positions_in(classes: list[str], names: Array) -> NDArray[np.int64]:
    """Positions of `names` in `classes`."""
    number = {name: i for i, name in enumerate(classes)}
    return np.array([number[name] for name in names.tolist()], dtype=np.int64)


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text("utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read as a text of labels: {error}") from error
