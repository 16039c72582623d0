"""`Semantics`: how far apart the classes of a data set are, ready to be trained with, evaluated with, and saved."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array
from kinhash.errors import FormatError, InputError, UnknownClassError
from kinhash.frozen import frozen, handed_over
from kinhash.meaning.matrix import checked_square

Floats = NDArray[np.float64]
_KIND = "kinhash-semantics"


@dataclass(frozen=True, eq=False)
class Semantics:
    """(C, C) distances in [0, 1] between named classes; `name` says where they come from.

    Made by `kinhash.semantics`. `distance[i, j]` is seen from class i; all but WordNet's variant "nltk" are symmetric
    with a zero diagonal. The matrix cannot be written to.
    """

    name: str
    distance: Floats
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        classes = checked_names(self.classes)
        given = frozen(as_array(self.distance, "distance"))  # before the check: what was checked must stay
        if given.shape != (len(classes), len(classes)) or given.dtype.kind not in "fiub":
            raise InputError(
                f"{len(classes)} classes need a ({len(classes)}, {len(classes)}) matrix of numbers, "
                f"got shape {given.shape} of {given.dtype}"
            )
        if not (given.min() >= 0 and given.max() <= 1):  # NaN fails too
            raise InputError(
                f"distances lie in [0, 1], got {given.min():g} to {given.max():g}; kinhash.semantics checks and scales"
            )
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "distance", frozen(handed_over(given.astype(np.float64, copy=False))))

    def __len__(self) -> int:
        return len(self.classes)

    def __repr__(self) -> str:
        return f"Semantics({self.name!r}, {len(self)} classes)"

    @property
    def similarity(self) -> Floats:
        """1 - distance."""
        return 1.0 - self.distance

    def positions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of the classes called `names`."""
        number = {name: i for i, name in enumerate(self.classes)}
        for name in names:
            if name not in number:
                raise UnknownClassError(
                    f"{self!r} has no class {name!r}; its classes begin {self.classes[:3]}"
                )
        return np.array([number[name] for name in names], np.int64)

    def between(self, labels: ArrayLike, others: ArrayLike | None = None) -> Floats:
        """(A, B) distances between items with these labels (numbers of classes); without `others`, among themselves."""
        rows = self._checked_labels(labels)
        return self.distance[np.ix_(rows, rows if others is None else self._checked_labels(others))]

    def take(self, classes: ArrayLike | Sequence[str]) -> Semantics:
        """The semantics of some of the classes, by number or by name, in that order."""
        array = np.atleast_1d(as_array(classes, "the classes"))
        rows = (
            self.positions([str(c) for c in array])
            if array.dtype.kind == "U"
            else self._checked_labels(array)
        )
        if not len(rows):
            raise InputError("no class was chosen; semantics need at least one")
        chosen = handed_over(self.distance[np.ix_(rows, rows)])
        return Semantics(self.name, chosen, tuple(self.classes[i] for i in rows))

    def to_card(self) -> dict[str, Any]:
        """Everything as a dictionary for json; the matrix is packed, and comes back bit for bit."""
        packed = zlib.compress(self.distance.astype("<f8").tobytes(), 6)
        return {
            "kind": _KIND,
            "name": self.name,
            "classes": list(self.classes),
            "distance": base64.b64encode(packed).decode("ascii"),
        }

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Semantics:
        """What `to_card` wrote; anything else is a `FormatError`."""
        if not isinstance(card, Mapping) or card.get("kind") != _KIND:
            raise FormatError("this is no card of semantics; `Semantics.to_card` writes one")
        try:
            classes = tuple(card["classes"])
            values = np.frombuffer(zlib.decompress(base64.b64decode(card["distance"], validate=True)), "<f8")
            return cls(str(card["name"]), checked_square(values.reshape(len(classes), len(classes))), classes)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise FormatError(f"the card of semantics is damaged: {error}") from error

    def _checked_labels(self, labels: ArrayLike) -> NDArray[np.int64]:
        array = as_array(labels, "labels")
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            hint = "; names become numbers by semantics.positions(names)" if array.dtype.kind in "OTU" else ""
            raise InputError(
                f"labels are a row of class numbers, got shape {array.shape} of {array.dtype}{hint}"
            )
        wrong = np.flatnonzero((array < 0) | (array >= len(self)))
        if len(wrong):
            raise InputError(
                f"label {array[wrong[0]]} at position {wrong[0]} is no class; {self!r} has 0 to {len(self) - 1}"
            )
        return array.astype(np.int64)


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Class names as a tuple; none at all, or one given twice, is an error."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"classes are a sequence of names, got {names!r:.60}")
    checked = tuple(str(name) for name in names)
    if not checked:
        raise InputError("there are no classes; name at least one")
    name, count = Counter(checked).most_common(1)[0]
    if count > 1:
        raise InputError(f"class names must be unique, but {name!r} occurs {count} times")
    return checked
