"""Reading what callers pass as numbers: whatever NumPy cannot read is one clear error."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.errors import InputError


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """`np.asarray`, with an `InputError` for rows of unequal length, tensors that lie on a GPU, and the like."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            f"{name} cannot be read as an array: {error}. Pass a NumPy array, or rows of equal length"
        ) from error


def is_whole(value: object) -> TypeGuard[int]:
    """A Python or NumPy integer; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
