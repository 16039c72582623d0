"""How far hits are from the query in meaning: between the label of the query and theirs, where semantics know both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinhash.meaning.semantics import Semantics

KEY = "label"  # of the metadata


@dataclass(frozen=True)
class Reference:
    """The label that distances in meaning are seen from, and where it comes from."""

    label: str
    source: str  # "asked", "item", "prediction" or "nearest"


class Meanings:
    """Distances between labels of one index."""

    def __init__(self, semantics: Semantics | None) -> None:
        self._semantics = semantics
        self._row = {} if semantics is None else {name: row for row, name in enumerate(semantics.classes)}

    def known(self, label: Any) -> bool:
        return isinstance(label, str) and label in self._row

    def reference(self, labels: Mapping[str, Any]) -> Reference | None:
        """The first of some labels, by their sources, that the semantics know."""
        known = (Reference(label, source) for source, label in labels.items() if self.known(label))
        return next(known, None)

    def distances(self, reference: Reference | None, labels: Sequence[Any]) -> list[float | None]:
        """In [0, 1]; None where a label is not known."""
        if reference is None or self._semantics is None:
            return [None] * len(labels)
        row = self._semantics.distance[self._row[reference.label]]
        return [round(float(row[self._row[label]]), 4) if self.known(label) else None for label in labels]
