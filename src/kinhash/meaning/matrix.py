"""What a matrix of distances between classes must be, checked with messages that say what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.errors import InputError

Floats = NDArray[np.float64]
_ROUNDING = 1e-9  # further out is a mistake and refused


def checked_distances(matrix: ArrayLike) -> Floats:
    """A (C, C) matrix of distances in [0, 1]: symmetric, zero on the diagonal."""
    values = checked_square(matrix)
    diagonal = np.diagonal(values)
    if np.any(diagonal > _ROUNDING):
        bad = int(np.argmax(diagonal > _ROUNDING))
        hint = (
            "this looks like a matrix of similarities: pass 1 - matrix"
            if diagonal.min() > 1 - 1e-6
            else "set it with np.fill_diagonal(matrix, 0)"
        )
        raise InputError(f"the distance of class {bad} to itself is {diagonal[bad]:g}, but must be 0; {hint}")
    gap = np.abs(values - values.T)
    if gap.max() > 1e-6:
        i, j = (int(place) for place in np.unravel_index(np.argmax(gap), gap.shape))
        raise InputError(
            f"the distances are not symmetric: [{i}, {j}] is {values[i, j]:g}, [{j}, {i}] is {values[j, i]:g}; "
            "pass (matrix + matrix.T) / 2"
        )
    values = (values + values.T) / 2
    np.fill_diagonal(values, 0.0)
    return values


def checked_square(matrix: ArrayLike) -> Floats:
    """A finite (C, C) float64 copy with all entries in [0, 1]."""
    array = as_array(matrix, "the matrix of distances")
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"distances between C classes are a (C, C) matrix of numbers, got shape {array.shape} of {array.dtype}"
        )
    if array.shape[0] != array.shape[1]:
        raise InputError(
            f"distances between classes need a square matrix, got shape {array.shape}; "
            "for embeddings, one row per class, pass metric='cosine' or metric='manhattan'"
        )
    if not array.size:
        raise InputError("the matrix of distances is empty; at least one class is needed")
    values = np.array(array, dtype=np.float64)
    inside = (values >= -_ROUNDING) & (values <= 1 + _ROUNDING)  # NaN is outside
    if not inside.all():
        i, j = (int(place) for place in np.argwhere(~inside)[0])
        raise InputError(
            f"distances lie in [0, 1], but [{i}, {j}] is {values[i, j]:g}; divide the matrix by its largest "
            "entry, and replace what is not a number"
        )
    return np.clip(values, 0.0, 1.0, out=values)  # rounding only: anything further out was refused
