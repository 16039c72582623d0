"""What a metric accepts, checked once, with messages that say what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array, is_whole
from kinhash.errors import InputError, UnknownClassError


def checked_labels(labels: ArrayLike, n: int, name: str = "labels") -> NDArray[np.int64]:
    """One whole number per item."""
    array = as_array(labels, name)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        hint = "; names become numbers by semantics.positions(names)" if array.dtype.kind in "OTU" else ""
        raise InputError(
            f"{name} must be a row of class numbers (integers), got shape {array.shape} of {array.dtype}{hint}"
        )
    if len(array) != n:
        raise InputError(f"{name} has {len(array)} entries for {n} items; one label per item is needed")
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_similarities(
    similarities: Mapping[str, ArrayLike] | ArrayLike | None,
) -> dict[str, NDArray[np.float64]]:
    """Named (C, C) matrices of one size; a lone matrix is called 'similarity'."""
    if similarities is None:
        return {}
    named = similarities if isinstance(similarities, Mapping) else {"similarity": similarities}
    checked = {name: _checked_matrix(matrix, name) for name, matrix in named.items()}
    sizes = {len(matrix) for matrix in checked.values()}
    if len(sizes) > 1:
        raise InputError(f"the similarities are over different numbers of classes: {sorted(sizes)}")
    return checked


def _checked_matrix(matrix: ArrayLike, name: str) -> NDArray[np.float64]:
    array = as_array(matrix, f"similarity {name!r}")
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InputError(
            f"similarity {name!r} must be a square matrix of numbers, classes by classes; "
            f"got shape {array.shape} of {array.dtype}"
        )
    return checked_range(array, name)


def checked_range(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Similarities as float64, all of them in [0, 1]."""
    values = np.ascontiguousarray(array, dtype=np.float64)
    if values.size and not (values.min() >= -1e-9 and values.max() <= 1 + 1e-9):  # NaN fails too
        bad = np.argwhere(~((values >= -1e-9) & (values <= 1 + 1e-9)))[0]
        raise InputError(
            f"similarity {name!r} must lie in [0, 1]; entry {tuple(map(int, bad))} is {values[tuple(bad)]}. "
            "Scale it, or pass 1 - distance"
        )
    return np.clip(values, 0.0, 1.0)  # rounding only: anything further out was refused


def checked_key(name: str) -> str:
    """What a similarity is called: it becomes a part of the keys of a report."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(
            f"a semantics is named by letters, digits and underscores, like 'wup'; got {name!r:.60}"
        )
    return name


def checked_label_range(labels: NDArray[np.int64], classes: int, name: str = "labels") -> None:
    """Labels that are positions among `classes` classes."""
    wrong = np.flatnonzero((labels < 0) | (labels >= classes))
    if len(wrong):
        raise UnknownClassError(
            f"{name}[{wrong[0]}] is {labels[wrong[0]]}, but there are classes 0 to {classes - 1}; "
            "labels are positions among the classes"
        )


def renumbered(
    labels: NDArray[np.int64], items: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The classes that occur, and both rows of labels as positions among those alone.

    So any integers may be labels, and 21,000 classes that do not occur cost nothing.
    """
    used, numbers = np.unique(np.concatenate([labels, items]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    return used, numbers[: len(labels)].copy(), numbers[len(labels) :].copy()


def checked_k(k: int, available: int, name: str = "k", at_least: int = 1) -> int:
    """A cutoff that the ranking can fill."""
    if not is_whole(k):
        raise InputError(f"{name} is a whole number, got {k!r}")
    if not at_least <= k <= available:
        raise InputError(
            f"{name} is {k}, but must lie between {at_least} and {available}, the items that a query can be "
            "answered with (the query itself does not count); choose a smaller k or a larger database"
            if k > available
            else f"{name} is {k}; it must be at least {at_least}"
            + (", since AHP is an area below a curve, and one point has none" if at_least == 2 else "")
        )
    return int(k)
