"""What a search gives back: small objects around arrays, ordered by (distance, position) or (distance, id)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes

if TYPE_CHECKING:  # the scan alone needs neither ids nor metadata
    from kinhash.index.ids import Ids
    from kinhash.index.metadata_checks import Metadata

IdArray = NDArray[Any]  # int64, or objects of type str


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
class _Ragged:
    """Any number of hits a query; those of query i lie at offsets[i]:offsets[i + 1]."""

    offsets: NDArray[np.int64]  # (m + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _part(self, query: int) -> slice:
        if not -len(self) <= query < len(self):
            raise IndexError(f"query {query} of {len(self)}")  # the iteration protocol needs IndexError
        query %= len(self)
        return slice(self.offsets[query], self.offsets[query + 1])


@dataclass(frozen=True, eq=False)
class RaggedHits(_Ragged):
    """Everything within a radius; the hits of query i lie at offsets[i]:offsets[i + 1]."""

    positions: NDArray[np.int64]
    distances: NDArray[np.int32]

    def __getitem__(self, query: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(positions, distances) of one query."""
        part = self._part(query)
        return self.positions[part], self.distances[part]


@dataclass(frozen=True, eq=False)
class RaggedIdHits(_Ragged):
    """Everything within a radius; the hits of query i lie at offsets[i]:offsets[i + 1]."""

    ids: IdArray
    distances: NDArray[np.int32]

    def __getitem__(self, query: int) -> tuple[IdArray, NDArray[np.int32]]:
        """(ids, distances) of one query."""
        part = self._part(query)
        return self.ids[part], self.distances[part]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of codes within a radius, left < right, ordered by (left, distance, right)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distances: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class Items:
    """Stored items: ids as asked for, their codes, and a dict of metadata each."""

    ids: Ids
    codes: Codes
    metadata: list[Metadata]

    def __len__(self) -> int:
        return len(self.codes)


def joined_pairs(blocks: Iterable[Pairs]) -> Pairs:
    """The pairs of consecutive blocks, one after the other; of no block, none."""
    nothing = np.empty(0, dtype=np.int64)
    parts = [Pairs(nothing, nothing, nothing.astype(np.int32)), *blocks]
    return Pairs(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )


def joined_offsets(counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Offsets of the answers of several sources together, of each source's hits by query."""
    total = np.sum(counts, axis=0, dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(total)])


def joined_order(counts: Sequence[NDArray[np.int64]], *keys: NDArray[Any]) -> NDArray[np.int64]:
    """What brings hits that lie source after source into (query, last key, ..., first key) order."""
    query = np.concatenate([np.repeat(np.arange(len(count)), count) for count in counts])
    return np.lexsort((*keys, query))
