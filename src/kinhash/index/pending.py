"""The items of the log, in memory: what was written since segments were last made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError
from kinhash.index.ids import Id, Ids, checked_ids, keys_of, plain
from kinhash.index.log import Entry
from kinhash.index.metadata import shred
from kinhash.index.metadata_checks import Metadata
from kinhash.index.segment import Content, Segment, segment_in_memory
from kinhash.index.strings import Strings

# finds ids in the stored segments: for each id the number of its segment (0: none) and its row
Locate = Callable[[Ids], tuple[NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True)
class _Frozen:
    """Written items start to stop as a segment in memory; `place` tells the row of each, -1 if it was dead by then."""

    start: int
    stop: int
    segment: Segment | None
    place: NDArray[np.int64]


class Pending:
    """Applies log entries in order. Not for several threads at once: its owner holds a lock."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._ids: list[Id] = []  # of every item ever written, dead ones too
        self._words: list[NDArray[np.uint64]] = []
        self._metadata: list[Metadata] = []
        self._row_of: dict[Id, int] = {}
        self._dead: list[int] = []
        self._frozen: list[_Frozen] = []
        self.entries = 0
        self.hidden: dict[int, set[int]] = {}  # rows of stored segments that the log deleted or replaced

    @property
    def written(self) -> int:
        return len(self._ids)

    @property
    def touched(self) -> int:
        """Items and rows that the log concerns."""
        return len(self._ids) + len(self._dead) + sum(map(len, self.hidden.values()))

    def __len__(self) -> int:
        return len(self._row_of)

    def holds(self, ids: list[Id]) -> NDArray[np.bool_]:
        return np.array([name in self._row_of for name in ids], dtype=np.bool_)

    def apply(self, entry: Entry, locate: Locate) -> None:
        """Take in one entry."""
        names = plain(entry.ids)
        self.entries += 1
        if entry.op != "add":
            self._remove(names, locate)
        if entry.words is None:
            return
        start = len(self._ids)
        self._ids += names
        self._words.append(entry.words)
        self._metadata += entry.metadata if entry.metadata is not None else [{}] * len(names)
        self._row_of.update(zip(names, range(start, start + len(names)), strict=True))

    def _remove(self, names: list[Id], locate: Locate) -> None:
        stored = []
        for name in names:
            row = self._row_of.pop(name, None)
            if row is None:
                stored.append(name)
            else:
                self._dead.append(row)
        if not stored:
            return
        numbers, rows = locate(checked_ids(stored))
        if not numbers.all():
            missing = stored[int(np.flatnonzero(numbers == 0)[0])]
            raise FormatError(f"the log removes id {missing!r}, which the index does not hold: it is damaged")
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
            self.hidden.setdefault(number, set()).add(row)

    def content(self) -> Content:
        """All live items in ascending order of their ids."""
        return self._content(self._sorted(0, len(self._ids), set(self._dead)))

    def _sorted(self, start: int, stop: int, without: set[int]) -> list[int]:
        rows = [row for row in range(start, stop) if row not in without]
        rows.sort(key=self._ids.__getitem__)
        return rows

    def _content(self, rows: list[int]) -> Content:
        names = [self._ids[row] for row in rows]
        if len(self._words) > 1:
            self._words = [np.concatenate(self._words)]
        words = self._words[0][rows]
        metadata = shred([self._metadata[row] for row in rows])
        if isinstance(names[0], str):
            texts = [str(name) for name in names]
            return Content(Strings.from_list(texts), words, metadata, keys_of(texts))
        return Content(np.array(names, dtype=np.int64), words, metadata)

    def frozen(self) -> list[tuple[Segment, NDArray[np.int64]]]:
        """The items as segments with their dead rows; one more item costs one small segment, not all anew."""
        start = self._frozen[-1].stop if self._frozen else 0
        stop = len(self._ids)
        if start < stop:
            while self._frozen and self._frozen[-1].stop - self._frozen[-1].start <= 2 * (stop - start):
                start = self._frozen.pop().start
            rows = self._sorted(start, stop, set(self._dead))
            place = np.full(stop - start, -1, dtype=np.int64)
            place[np.array(rows, dtype=np.int64) - start] = np.arange(len(rows))
            segment = segment_in_memory(self._content(rows), self._bits) if rows else None
            self._frozen.append(_Frozen(start, stop, segment, place))
        dead = np.sort(np.array(self._dead, dtype=np.int64))
        return [(part.segment, _dead_rows(part, dead)) for part in self._frozen if part.segment is not None]


def _dead_rows(part: _Frozen, dead: NDArray[np.int64]) -> NDArray[np.int64]:
    inside = dead[np.searchsorted(dead, part.start) : np.searchsorted(dead, part.stop)]
    rows = np.sort(part.place[inside - part.start])
    return rows[rows >= 0]
