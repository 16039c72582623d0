"""What a search gives back: small objects around arrays, ordered by (distance, position)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Hits:
    """The k nearest of every query; row i of both arrays belongs to query i, ties in position order."""

    positions: NDArray[np.int64]  # (m, k)
    distances: NDArray[np.int32]  # (m, k)

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, query: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(positions, distances) of one query."""
        return self.positions[query], self.distances[query]


@dataclass(frozen=True, eq=False)
class RaggedHits:
    """Everything within a radius; the hits of query i lie at offsets[i]:offsets[i + 1]."""

    offsets: NDArray[np.int64]  # (m + 1,)
    positions: NDArray[np.int64]
    distances: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(positions, distances) of one query."""
        if not -len(self) <= query < len(self):
            raise IndexError(f"query {query} of {len(self)}")  # the iteration protocol needs IndexError
        query %= len(self)
        part = slice(self.offsets[query], self.offsets[query + 1])
        return self.positions[part], self.distances[part]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of codes within a radius, left < right, ordered by (left, distance, right)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distances: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)
