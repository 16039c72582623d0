"""What an index on disk gives back: ids instead of positions, ordered by (distance, id)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.index.ids import Ids
from kinhash.index.metadata import Metadata

IdArray = NDArray[Any]  # int64, or objects of type str


@dataclass(frozen=True, eq=False)
class IdHits:
    """The k nearest items of every query; row i of both arrays belongs to query i, ties in id order."""

    ids: IdArray  # (m, k)
    distances: NDArray[np.int32]  # (m, k)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, query: int) -> tuple[IdArray, NDArray[np.int32]]:
        """(ids, distances) of one query."""
        return self.ids[query], self.distances[query]


@dataclass(frozen=True, eq=False)
class RaggedIdHits:
    """Everything within a radius; the hits of query i lie at offsets[i]:offsets[i + 1]."""

    offsets: NDArray[np.int64]  # (m + 1,)
    ids: IdArray
    distances: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[IdArray, NDArray[np.int32]]:
        """(ids, distances) of one query."""
        if not -len(self) <= query < len(self):
            raise IndexError(f"query {query} of {len(self)}")  # the iteration protocol needs IndexError
        query %= len(self)
        part = slice(self.offsets[query], self.offsets[query + 1])
        return self.ids[part], self.distances[part]


@dataclass(frozen=True, eq=False)
class Items:
    """Stored items: ids as asked for, their codes, and a dict of metadata each."""

    ids: Ids
    codes: Codes
    metadata: list[Metadata]

    def __len__(self) -> int:
        return len(self.codes)
