"""Rank correlation: does one distance order things as another does?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.errors import InputError
from kinhash.kernels.kendall import kendall_tau_b

_EXACT = 2**53  # float64 holds every whole number up to here


def kendall_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of two rows of paired values: 1 = same order, 0 = unrelated, -1 = reversed.

    (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y), in O(n log n). NaN where one of
    the rows is constant, since it then orders nothing.
    """
    left, right = _checked_row(x, "x"), _checked_row(y, "y")
    if len(left) != len(right):
        raise InputError(f"x has {len(left)} values and y {len(right)}; they must be pairs")
    return float(kendall_tau_b(left, right, np.argsort(left), np.argsort(right)))


def _checked_row(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise InputError(f"{name} must be a row of numbers, got shape {array.shape} of {array.dtype}")
    if len(array) < 2:
        raise InputError(f"{name} holds {len(array)} values; an order needs at least two")
    if array.dtype.kind in "iu" and (array.max() > _EXACT or array.min() < -_EXACT):
        array = np.unique(array, return_inverse=True)[1]  # only the order counts, and float64 would lose it
    row = np.ascontiguousarray(array, dtype=np.float64)
    wrong = np.flatnonzero(np.isnan(row))
    if len(wrong):
        raise InputError(f"{name}[{wrong[0]}] is NaN, which has no place in an order; leave this pair out")
    return row
