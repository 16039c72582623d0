"""Many strings as two arrays: UTF-8 bytes one after the other, and where each begins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.index.storage import Column, NewColumn


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

    def to_list(self) -> list[str]:
        raw = self.data.tobytes()
        return [raw[a:b].decode() for a, b in itertools.pairwise(self.offsets.tolist())]

    def take(self, rows: NDArray[np.int64]) -> Strings:
        """The strings of some rows, in their order."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Strings(offsets, self.data[source])

    def columns(self, name: str) -> dict[str, NewColumn]:
        """What `StoredStrings` reads."""
        return {
            f"{name}.offsets": NewColumn("<i8", [self.offsets]),
            f"{name}.bytes": NewColumn("|u1", [self.data]),
        }


class StoredStrings:
    """Strings in two columns of a segment."""

    def __init__(self, columns: dict[str, Column], name: str) -> None:
        self._offsets, self._bytes = columns[f"{name}.offsets"], columns[f"{name}.bytes"]

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def all(self) -> Strings:
        return Strings(self._offsets.all(), self._bytes.all())

    def take(self, rows: NDArray[np.int64]) -> list[str]:
        starts, stops = self._offsets.take(rows).tolist(), self._offsets.take(rows + 1).tolist()
        spans: list[NDArray[Any]] = [self._bytes.span(a, b) for a, b in zip(starts, stops, strict=True)]
        return [span.tobytes().decode() for span in spans]
