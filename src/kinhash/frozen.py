"""Arrays that stay what they were when they were checked: nobody can write to them any more."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """A read-only view of the array itself where nobody can write to its memory, of a copy of it where somebody can.

    So a memory map opened for reading, or a slice of what is frozen, costs nothing.
    """
    kept = np.array(array, order="C", copy=True) if _can_change(array) else array
    view: Array = kept.view()  # type: ignore[assignment]
    kept.flags.writeable = view.flags.writeable = False
    return view


def handed_over(array: Array) -> Array:
    """An array that whoever made it gives away: frozen as it is, with the arrays it is a view of."""
    part: object = array
    while isinstance(part, np.ndarray):
        part.flags.writeable = False
        part = part.base
    return array


def _can_change(array: NDArray[Any]) -> bool:
    """Whether the array, an array that it is a view of, or the buffer under them can be written to."""
    part: object = array
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return True
        part = part.base
    if part is None:
        return False
    try:
        return not memoryview(part).readonly  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return True  # what does not say is taken for writeable
