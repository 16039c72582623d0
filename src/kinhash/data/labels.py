"""Labels as people write them (names or numbers) -> positions in a tuple of class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import InputError, UnknownClassError

Numbers = NDArray[np.int64]


def numbered(
    parts: Sequence[Sequence[Any] | None], classes: Sequence[str] | None, where: str
) -> tuple[list[Numbers | None], tuple[str, ...]]:
    """Positions for the labels of every part, over classes common to all.

    Names: the classes are `classes`, or all that occur in alphabetical order. Whole numbers: they are positions in
    `classes`, or without any the classes are called "0", "1", ... up to the largest.
    """
    known = [label for part in parts if part is not None for label in part]
    if not known:
        return [None] * len(parts), ()
    if any(part is None for part in parts):
        raise InputError(f"{where}: one part has labels, the other has none")
    if all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in known):
        names = [str(i) for i in range(max(map(int, known)) + 1)] if classes is None else list(classes)
        return [np.array(part, dtype=np.int64) for part in parts], tuple(names)
    if not all(isinstance(label, str) and label for label in known):
        wrong = next(label for label in known if not (isinstance(label, str) and label))
        raise InputError(f"{where}: labels are all names or all whole numbers, got {wrong!r} among them")
    names = sorted(set(known)) if classes is None else list(classes)
    position = {name: i for i, name in enumerate(names)}
    for label in known:
        if label not in position:
            raise UnknownClassError(f"{where}: label {label!r} is not among the {len(names)} classes given")
    return [np.array([position[label] for label in part or []], dtype=np.int64) for part in parts], tuple(
        names
    )
