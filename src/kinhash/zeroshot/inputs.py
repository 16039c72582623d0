"""What every method for unseen classes is fitted on, checked once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows
from kinhash.errors import InputError
from kinhash.metrics.inputs import checked_label_range, checked_labels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """Items of the seen classes, and what is known of those classes."""

    features: Floats  # (n, d)
    labels: NDArray[np.int64]  # (n,) rows of `vectors`
    vectors: Floats  # (S, a), one per seen class

    @property
    def classes(self) -> int:
        return len(self.vectors)

    def counts(self) -> Floats:
        """(S,) items of every class."""
        return np.bincount(self.labels, minlength=self.classes).astype(np.float64)

    def signs(self) -> Floats:
        """(n, S) 1 for an item's own class, -1 for the others."""
        signs = np.full((len(self.labels), self.classes), -1.0)
        signs[np.arange(len(signs)), self.labels] = 1.0
        return signs

    def means(self, features: Floats) -> Floats:
        """(S, k) mean over the items of each class of what is said of every item, (n, k)."""
        sums = np.zeros((self.classes, features.shape[1]))
        np.add.at(sums, self.labels, features)
        return sums / self.counts()[:, None]


def seen(features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> Seen:
    """Features (n, d), the number of each one's class, and a vector per seen class (S, a), all of them in use."""
    rows = finite_rows(features, "features")
    known = finite_rows(vectors, "class vectors")
    numbers = checked_labels(labels, len(rows))
    checked_label_range(numbers, len(known))
    missing = np.flatnonzero(np.bincount(numbers, minlength=len(known)) == 0)
    if len(missing):
        raise InputError(
            f"seen class {missing[0]} has a vector but no item; pass the vectors of classes with items only, and "
            "those of the others to `scores`"
        )
    if len(known) < 2:
        raise InputError(f"unseen classes are told from at least two seen ones, got {len(known)}")
    return Seen(rows, numbers, known)


def asked(features: ArrayLike, width: int) -> Floats:
    """Features of queries, as wide as those of the fit."""
    rows = finite_rows(features, "features")
    if rows.shape[1] != width:
        raise InputError(f"this was fitted on features of {width} numbers, got {rows.shape[1]}")
    return rows


def unseen(vectors: ArrayLike, width: int) -> Floats:
    """Vectors of unseen classes, from the same source as those of the seen ones."""
    rows = finite_rows(vectors, "class vectors")
    if rows.shape[1] != width:
        raise InputError(
            f"the seen classes have vectors of {width} numbers, these have {rows.shape[1]}; take both from one source"
        )
    if not len(rows):
        raise InputError("there are no unseen classes to choose from: pass at least one class vector")
    return rows


def squared_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) squared Euclidean distances."""
    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1) - 2 * (a @ b.T)
    return np.maximum(squares, 0.0)


def rbf(a: Floats, b: Floats, gamma: float) -> Floats:
    """(n, m) kernel `exp(-gamma |a - b|^2)`."""
    kernel: Floats = np.exp(-gamma * squared_distances(a, b))
    return kernel


def typical_scale(vectors: Floats) -> float:
    """The median squared distance between two different classes."""
    between = squared_distances(vectors, vectors)[np.triu_indices(len(vectors), 1)]
    middle = float(np.median(between))
    if middle <= 0:
        raise InputError("most class vectors are equal, so they say nothing about unseen classes")
    return middle
