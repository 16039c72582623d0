"""How near in meaning two pictures of a split are: what colours the cards of a gallery."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows, unit_rows
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.meaning.semantics import Semantics


class Likeness:
    """Similarities in [0, 1] between rows, by their classes or by vectors."""

    def __init__(self, name: str, table: NDArray[np.float64], rows: NDArray[np.int64] | None) -> None:
        self.name, self._table, self._rows = name, table, rows

    def between(self, a: int, b: int) -> float:
        if self._rows is None:
            return float(np.clip(self._table[a] @ self._table[b], 0, 1))
        return float(self._table[self._rows[a], self._rows[b]])


def likeness_of(data: Split, semantics: Semantics | None, vectors: ArrayLike | None) -> Likeness | None:
    if semantics is not None and vectors is not None:
        raise InputError("colours follow either semantics of classes or target vectors: leave one out")
    if vectors is not None:
        rows = finite_rows(vectors, "target_vectors")
        if len(rows) != len(data):
            raise InputError(f"{len(rows)} target vectors for {len(data)} pictures: one each is needed")
        return Likeness("the cosine of target vectors", unit_rows(rows, "target_vectors"), None)
    if semantics is None:
        return None
    if data.labels is None:
        raise InputError("semantics of classes colour pictures with labels, and these have none")
    return Likeness(semantics.name, semantics.take(list(data.classes)).similarity, data.labels)
