"""What callers pass, read and checked: arrays, numbers, words. What cannot be used is one clear error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kinhash.errors import InputError


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """`np.asarray`, with an `InputError` for rows of unequal length, tensors that lie on a GPU, and the like."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            f"{name} cannot be read as an array: {error}. Pass a NumPy array, or rows of equal length"
        ) from error


def finite_rows(values: ArrayLike, name: str, dtype: DTypeLike | None = np.float64) -> NDArray[Any]:
    """Real, finite (n, d) with d >= 1, contiguous, as `dtype`; None keeps float32 and float64 as they are."""
    array = as_array(values, name)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be a real (n, d) array, got shape {array.shape} of {array.dtype}")
    if dtype is None:
        dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    with np.errstate(over="ignore"):  # what a narrower type cannot hold becomes infinite, which is told below
        rows = np.ascontiguousarray(array, dtype=dtype)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        row = int(bad[0])
        column = int(np.argmin(np.isfinite(rows[row])))
        beyond = f", too large for {rows.dtype}" if np.isfinite(array[row, column]) else ""
        raise InputError(
            f"{name} must be finite, but there is NaN or infinity in {len(bad)} rows, first in row {row} "
            f"(column {column} holds {array[row, column]}{beyond}); mend these rows or leave them out"
        )
    return rows


def unit_rows(rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Every row divided by its length."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise InputError(
            f"{name}: row {zero[0]} is all zeros and has no direction; leave it out or use 'manhattan'"
        )
    unit = rows / largest  # so that squares neither overflow nor vanish
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit


def is_whole(value: object) -> TypeGuard[int]:
    """A Python or NumPy integer; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_choice(value: str, choices: Sequence[str], name: str) -> str:
    """`value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} is one of {', '.join(map(repr, choices))}; got {value!r}")
    return value
