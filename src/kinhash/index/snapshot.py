"""One committed version of an index, ready to be searched; it never changes, so threads share it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes, width_of
from kinhash.errors import NotFoundError
from kinhash.frozen import handed_over
from kinhash.index.checks import Allowed
from kinhash.index.filters import Filter
from kinhash.index.ids import Id, Ids, as_array, id_at, kind_of
from kinhash.index.metadata_checks import Metadata
from kinhash.index.results import Hits, IdArray, Items, RaggedHits
from kinhash.index.scan import k_nearest, within
from kinhash.index.segment import Segment

Rows = NDArray[np.int64]
_SPARE = 16  # hits asked for beyond k and dropped again where they are dead


@dataclass(frozen=True)
class Part:
    """A segment and its dead rows, ascending."""

    segment: Segment
    dead: Rows

    @property
    def live(self) -> int:
        return self.segment.rows - len(self.dead)


class Run:
    """Parts whose ids follow each other: one scan over all of them, in which position order is id order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.bases = np.concatenate([[0], np.cumsum([part.segment.rows for part in parts])]).astype(np.int64)
        self.dead = np.concatenate([part.dead + base for part, base in zip(parts, self.bases, strict=False)])
        self.rows = int(self.bases[-1])
        self.live = self.rows - len(self.dead)

    @cached_property
    def chunks(self) -> list[tuple[NDArray[np.uint64], int]]:
        pairs = zip(self.parts, self.bases.tolist(), strict=False)
        return [(part.segment.words(), base) for part, base in pairs]

    @cached_property
    def alive(self) -> Allowed:
        mask = np.ones(self.rows, dtype=np.bool_)
        mask[self.dead] = False
        return mask

    def allowed(self, where: Filter) -> Allowed:
        """Live positions that pass a filter: as positions where they are few, else as a mask."""
        found = [part.segment.passing(where) for part in self.parts]
        if all(rows.dtype != np.bool_ for rows in found):
            pairs = zip(found, self.bases.tolist(), strict=False)
            parts = [np.asarray(rows + base if base else rows, dtype=np.int64) for rows, base in pairs]
            positions = parts[0] if len(parts) == 1 else np.concatenate(parts)
            return positions[~self._is_dead(positions)] if len(self.dead) else positions
        mask = np.zeros(self.rows, dtype=np.bool_)
        for rows, base, past in zip(found, self.bases, self.bases[1:], strict=False):
            mask[base:past][rows] = True
        mask[self.dead] = False
        return mask

    def nearest(self, queries: Codes, k: int, allowed: Allowed | None) -> Hits:
        """The k nearest live positions, k at most as many as there are."""
        if allowed is not None or not len(self.dead):
            return k_nearest(queries, self.chunks, k, allowed=allowed)
        wide = k_nearest(queries, self.chunks, min(self.rows, k + min(len(self.dead), k + _SPARE)))
        alive = ~self._is_dead(wide.positions)
        if (np.count_nonzero(alive, axis=1) < k).any():  # the neighbourhood is full of dead rows
            return k_nearest(queries, self.chunks, k, allowed=self.alive)
        first = np.argsort(~alive, axis=1, kind="stable")[:, :k]
        return Hits(
            np.take_along_axis(wide.positions, first, 1), np.take_along_axis(wide.distances, first, 1)
        )

    def within(self, queries: Codes, radius: int, allowed: Allowed | None) -> RaggedHits:
        """Every live position within a radius."""
        hits = within(queries, self.chunks, radius, allowed=allowed)
        if allowed is not None or not len(self.dead):
            return hits
        alive = ~self._is_dead(hits.positions)
        kept = np.concatenate([[0], np.cumsum(alive)])
        return RaggedHits(kept[hits.offsets], hits.positions[alive], hits.distances[alive])

    def following(self, after: Id | None, limit: int, allowed: Allowed | None) -> Rows:
        """The first `limit` live positions, of those allowed, whose ids come behind `after`."""
        first = 0 if after is None else bisect_right(range(self.rows), after, key=self._id_at)
        if allowed is None:
            allowed = self.alive if len(self.dead) else np.arange(first, min(self.rows, first + limit))
        if allowed.dtype == np.bool_:
            return np.flatnonzero(allowed[first:])[:limit] + first
        positions = allowed[np.searchsorted(allowed, first) :][:limit]
        return positions.astype(np.int64, copy=False)

    def _id_at(self, position: int) -> Id:
        found: Id = self.ids(np.array([position])).tolist()[0]
        return found

    def _is_dead(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        place = np.minimum(np.searchsorted(self.dead, positions), len(self.dead) - 1)
        return np.asarray(self.dead[place] == positions)

    def take_words(self, positions: Rows) -> NDArray[np.uint64]:
        """The codes at some ascending positions."""
        edges = np.searchsorted(positions, self.bases)
        parts = []
        for number, part in enumerate(self.parts):
            rows = positions[edges[number] : edges[number + 1]] - self.bases[number]
            parts.append(part.segment.take_words(rows))
        return np.concatenate(parts)

    def ids(self, positions: NDArray[np.int64]) -> IdArray:
        """The ids at some positions, in the same shape."""
        flat = positions.ravel()
        which = np.searchsorted(self.bases, flat, side="right") - 1
        found: IdArray | None = None
        for number in np.unique(which):
            mine = which == number
            ids = as_array(self.parts[number].segment.ids.take(flat[mine] - self.bases[number]))
            if found is None:
                found = np.empty(len(flat), dtype=ids.dtype)
            found[mine] = ids
        return np.empty(positions.shape, np.int64) if found is None else found.reshape(positions.shape)


@dataclass(frozen=True)
class Snapshot:
    """The parts of one version; every live id is in exactly one of them."""

    commit: int
    bits: int
    kind: str | None
    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return sum(part.live for part in self.parts)

    @cached_property
    def runs(self) -> list[Run]:
        """As few runs as there can be: each part goes behind the first run that ends before it begins."""
        groups: list[list[Part]] = []
        for part in sorted((part for part in self.parts if part.live), key=_first_id):
            for group in groups:
                if _last_id(group[-1]) < _first_id(part):  # type: ignore[operator]
                    group.append(part)
                    break
            else:
                groups.append([part])
        return [Run(group) for group in groups]

    def locate(self, ids: Ids) -> tuple[NDArray[np.int64], Rows]:
        """For every id the part that holds it, -1 where none does, and the row."""
        return locate(self.parts, ids)

    def get(self, ids: Ids) -> Items:
        """Items by id, in the order asked for."""
        which, rows = self.locate(ids)
        unknown = np.flatnonzero(which < 0)
        if len(unknown):
            more = f" and {len(unknown) - 1} more are" if len(unknown) > 1 else " is"
            raise NotFoundError(f"id {id_at(ids, int(unknown[0]))!r}{more} not in the index")
        words = np.empty((len(ids), width_of(self.bits)), dtype=np.uint64)
        metadata: list[Metadata] = [{} for _ in range(len(ids))]
        for number in np.unique(which):
            mine = np.flatnonzero(which == number)
            segment = self.parts[number].segment
            words[mine] = segment.take_words(rows[mine])
            for i, item in zip(mine.tolist(), segment.metadata.take(rows[mine]), strict=True):
                metadata[i] = item
        return Items(ids, Codes(handed_over(words), self.bits), metadata)


def locate(parts: Sequence[Part], ids: Ids) -> tuple[NDArray[np.int64], Rows]:
    """For every id the number of the part that holds it alive, -1 where none does, and the row."""
    which = np.full(len(ids), -1, dtype=np.int64)
    found = np.full(len(ids), -1, dtype=np.int64)
    if not len(ids):
        return which, found
    low: Any = min(ids) if isinstance(ids, list) else int(ids.min())
    high: Any = max(ids) if isinstance(ids, list) else int(ids.max())
    for number, part in enumerate(parts):
        if not part.live or part.segment.ids.kind != kind_of(ids):
            continue
        first, last = part.segment.span
        if low > last or high < first:
            continue
        rows = part.segment.ids.find(ids)
        if len(part.dead):
            place = np.minimum(np.searchsorted(part.dead, rows), len(part.dead) - 1)
            rows = np.where(part.dead[place] == rows, -1, rows)
        hit = rows >= 0
        which[hit], found[hit] = number, rows[hit]
    return which, found


def _first_id(part: Part) -> Id:
    return part.segment.span[0]


def _last_id(part: Part) -> Id:
    return part.segment.span[1]
