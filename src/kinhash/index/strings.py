"""Many strings as two arrays: UTF-8 bytes one after the other, and where each begins.

Their order is that of the UTF-8 bytes, which is the order of the code points, which is Python's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.index.storage import NewColumn, Readable

_WORD = 8  # bytes compared at once


class Strings:
    """String i is data[offsets[i]:offsets[i + 1]]."""

    def __init__(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self.offsets, self.data = offsets, data

    @classmethod
    def from_list(cls, texts: Sequence[str]) -> Strings:
        encoded = [text.encode() for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    @classmethod
    def concat(cls, parts: Sequence[Strings]) -> Strings:
        lengths = [np.diff(part.offsets) for part in parts]
        offsets = np.zeros(sum(map(len, lengths)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate(lengths), out=offsets[1:])
        return cls(offsets, np.concatenate([part.data[part.offsets[0] : part.offsets[-1]] for part in parts]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> bytes:
        """The bytes of one string; makes `bisect` work on sorted ones."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def to_list(self) -> list[str]:
        raw = self.data.tobytes()
        return [raw[a:b].decode() for a, b in itertools.pairwise(self.offsets.tolist())]

    def take(self, rows: NDArray[Any]) -> Strings:
        """The strings of some rows, in their order."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Strings(offsets, self.data[source])

    def order(self) -> NDArray[np.int64]:
        """The rows in ascending order, equal strings in row order; eight bytes decide at a time."""
        order = np.arange(len(self), dtype=np.int64)
        open_places, group = order.copy(), np.zeros(len(self), dtype=np.int64)  # where rows still tie
        depth = 0
        while len(open_places):
            rows = order[open_places]
            word, valid = self._words(rows, depth)
            by = np.lexsort((valid, word, group))
            rows, word, valid, group = rows[by], word[by], valid[by], group[by]
            order[open_places] = rows
            same = (word[1:] == word[:-1]) & (valid[1:] == valid[:-1]) & (group[1:] == group[:-1])
            group = np.concatenate([[0], np.cumsum(~same)])
            tied = np.zeros(len(rows), dtype=np.bool_)
            tied[1:] |= same
            tied[:-1] |= same
            tied &= valid == _WORD  # strings that end here in the same way are equal
            open_places, group = open_places[tied], group[tied]
            depth += _WORD
        return order

    def _words(self, rows: NDArray[np.int64], depth: int) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
        """Bytes depth to depth + 8 of each row as one big-endian number, and how many of them exist."""
        at = self.offsets[rows] + depth
        valid = np.clip(self.offsets[rows + 1] - at, 0, _WORD).astype(np.int8)
        word = np.zeros(len(rows), dtype=np.uint64)
        for byte in range(_WORD):
            inside = valid > byte
            word <<= np.uint64(8)
            word[inside] |= self.data[at[inside] + byte]
        return word, valid

    def columns(self, name: str) -> dict[str, NewColumn]:
        """What `StoredStrings` reads."""
        return {
            f"{name}.offsets": NewColumn("<i8", [self.offsets]),
            f"{name}.bytes": NewColumn("|u1", [self.data]),
        }


class StoredStrings:
    """Strings in two columns of a segment."""

    def __init__(self, columns: dict[str, Readable], name: str) -> None:
        self._offsets, self._bytes = columns[f"{name}.offsets"], columns[f"{name}.bytes"]

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def all(self) -> Strings:
        return Strings(self._offsets.all(), self._bytes.all())

    def take(self, rows: NDArray[Any]) -> list[str]:
        rows = rows.astype(np.int64)
        starts, stops = self._offsets.take(rows).tolist(), self._offsets.take(rows + 1).tolist()
        spans: list[NDArray[Any]] = [self._bytes.span(a, b) for a, b in zip(starts, stops, strict=True)]
        return [span.tobytes().decode() for span in spans]
