"""`Split` and `Dataset`: pictures or embeddings with what is known about them. Position i means one thing everywhere."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows
from kinhash.data.images import Broken, BrokenPictureWarning, FilePart, Pixels, Source, read_all, told
from kinhash.errors import InputError

Vectors = NDArray[np.float32]

# what the parts of a data set are called in folders, files and columns; the first that exists counts
TRAIN_NAMES = ("train", "training")
TEST_NAMES = ("test", "val", "valid", "validation", "dev")


@dataclass(frozen=True, eq=False)
class Split:
    """n pictures (`images`: one uint8 array, or sources read when needed) or embeddings (`vectors`), with targets.

    `broken` lists what was left out while reading, with reasons.
    """

    images: Pixels | list[Source] | None = None  # uint8 (n, h, w, 3) or n sources
    labels: NDArray[np.int64] | None = None  # (n,), positions in `classes`
    classes: tuple[str, ...] = ()
    ids: list[str] = field(default_factory=list)
    captions: list[list[str]] | None = None
    vectors: Vectors | None = None  # float32 (n, d)
    broken: list[Broken] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.images is None and self.vectors is None:
            raise InputError("a split needs images or vectors")
        if isinstance(self.images, np.ndarray):
            _check_images(self.images)
        if self.vectors is not None:
            object.__setattr__(self, "vectors", finite_rows(self.vectors, "the embeddings", np.float32))
        n = len(self.images if self.images is not None else self.vectors)  # type: ignore[arg-type]  # one is set
        if not self.ids:
            object.__setattr__(self, "ids", [str(i) for i in range(n)])
        _check_lengths(self, n)
        _check_ids(self.ids)
        if self.labels is not None:
            object.__setattr__(self, "labels", _checked_labels(self.labels, self.classes))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kind = "vectors" if self.images is None else "images"
        tail = f", {len(self.broken)} broken left out" if self.broken else ""
        return f"Split({len(self)} {kind}, {len(self.classes)} classes{tail})"

    def take(self, positions: ArrayLike) -> Split:
        """The rows at `positions` (whole numbers or a mask), in that order."""
        rows = _rows(positions, len(self))
        return replace(
            self,
            images=_taken(self.images, rows),
            labels=None if self.labels is None else self.labels[rows],
            ids=[self.ids[i] for i in rows],
            captions=None if self.captions is None else [self.captions[i] for i in rows],
            vectors=None if self.vectors is None else self.vectors[rows],
        )

    def divide(self, share: float, seed: int = 0) -> tuple[Split, Split]:
        """Two parts, the second holding `share` of every class (of all rows where there are no labels)."""
        if not 0 < share < 1:
            raise InputError(f"the share of the second part lies between 0 and 1, got {share}")
        rng = np.random.default_rng(seed)
        second = np.zeros(len(self), dtype=bool)
        labels = np.zeros(len(self), dtype=np.int64) if self.labels is None else self.labels
        for label in np.unique(labels):
            rows = rng.permutation(np.flatnonzero(labels == label))
            second[rows[: round(share * len(rows))]] = True
        return self.take(~second), self.take(second)

    def targets(self) -> NDArray[np.int64]:
        """The labels, for a purpose that needs at least two classes; anything less is an error."""
        if not len(self):
            raise InputError("the split is empty: there is nothing to learn from or to evaluate")
        if self.labels is None:
            raise InputError(
                "the split has no labels. Sort the pictures into one folder per class, add a `label` column to "
                "the manifest, or pass labels"
            )
        present = np.unique(self.labels)
        if len(present) < 2:
            name = self.classes[present[0]]
            raise InputError(
                f"all {len(self)} rows are of one class ({name!r}); at least two classes are needed"
            )
        return self.labels

    def in_memory(self) -> Split:
        """The same split with all pictures decoded into one array; broken ones are left out, listed and told.

        Needs pictures of one size; others stay sources, to be resized when they are read.
        """
        if self.images is None or isinstance(self.images, np.ndarray):
            return self
        read = list(read_all(self.images, self.ids))
        good = [i for i, picture in read if not isinstance(picture, Broken)]
        broken = [picture for _, picture in read if isinstance(picture, Broken)]
        if broken:
            warnings.warn(told(broken), BrokenPictureWarning, stacklevel=2)
        arrays = [picture for _, picture in read if not isinstance(picture, Broken)]
        kept = replace(self.take(good), broken=[*self.broken, *broken])
        if len({array.shape for array in arrays}) != 1:
            return kept
        return replace(kept, images=np.stack(arrays))


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named pair of splits over the same classes. `test` may be empty: `train.divide(0.2)` makes one."""

    name: str
    train: Split
    test: Split
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        for split in (self.train, self.test):
            if split.classes != self.classes:
                raise InputError(
                    f"{self.name}: both splits must list the dataset's {len(self.classes)} classes"
                )

    def whole(self) -> Split:
        """All rows, those of `train` before those of `test`; ids that occur in both begin with the part's name."""
        if not len(self.test):
            return self.train
        return joined(self.train, self.test)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, train={len(self.train)}, test={len(self.test)}, {len(self.classes)} classes)"


def joined(train: Split, test: Split) -> Split:
    """The rows of both parts of a data set as one split."""
    ids = [*train.ids, *test.ids]
    if len(set(ids)) != len(ids):
        ids = [f"train/{name}" for name in train.ids] + [f"test/{name}" for name in test.ids]
    return Split(
        images=_both_images(train.images, test.images),
        labels=_both(train.labels, test.labels),
        classes=train.classes,
        ids=ids,
        captions=[*train.captions, *test.captions] if train.captions and test.captions else None,
        vectors=_both(train.vectors, test.vectors),
        broken=[*train.broken, *test.broken],
    )


def _both(first: NDArray[Any] | None, second: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if first is None or second is None else np.concatenate([first, second])


def _both_images(
    first: Pixels | list[Source] | None, second: Pixels | list[Source] | None
) -> Pixels | list[Source] | None:
    if first is None or second is None:
        return None
    if (
        isinstance(first, np.ndarray)
        and isinstance(second, np.ndarray)
        and first.shape[1:] == second.shape[1:]
    ):
        return np.concatenate([first, second])
    return [*first, *second]


def _rows(positions: ArrayLike, n: int) -> NDArray[np.int64]:
    chosen = np.asarray(positions)
    if not chosen.size:
        chosen = np.empty(0, dtype=np.int64)  # numpy takes an empty list for floats
    try:
        rows: NDArray[np.int64] = np.arange(n)[chosen]
    except IndexError as error:
        raise InputError(f"these positions do not choose among {n} rows: {error}") from error
    return rows.reshape(-1)


def _taken(images: Pixels | list[Source] | None, rows: NDArray[np.int64]) -> Pixels | list[Source] | None:
    if images is None or isinstance(images, np.ndarray):
        return None if images is None else images[rows]
    return [images[i] for i in rows]


def _check_images(images: NDArray[Any]) -> None:
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise InputError(
            f"images must be an (n, h, w, 3) uint8 array, got shape {images.shape} of {images.dtype}"
        )


def _check_lengths(split: Split, n: int) -> None:
    parts = {"ids": split.ids, "labels": split.labels, "captions": split.captions, "vectors": split.vectors}
    for name, part in parts.items():
        if part is not None and len(part) != n:
            raise InputError(f"{n} rows, but {len(part)} {name}: every row needs exactly one")


def _check_ids(ids: Sequence[str]) -> None:
    if len(set(ids)) != len(ids):
        name, count = Counter(ids).most_common(1)[0]
        raise InputError(f"ids must be unique, but {name!r} occurs {count} times")


def _checked_labels(labels: ArrayLike, classes: tuple[str, ...]) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"labels must be whole numbers, one per row, got shape {array.shape} of {array.dtype}"
        )
    if len(set(classes)) != len(classes):
        raise InputError(f"class names must be unique, but {Counter(classes).most_common(1)[0][0]!r} repeats")
    if array.size and (array.min() < 0 or array.max() >= len(classes)):
        bad = int(np.flatnonzero((array < 0) | (array >= len(classes)))[0])
        raise InputError(
            f"row {bad} has label {array[bad]}, but there are {len(classes)} classes (0 to {len(classes) - 1})"
        )
    return array.astype(np.int64)


__all__ = ["Broken", "Dataset", "FilePart", "Split"]
