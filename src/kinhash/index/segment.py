"""A segment: items in ascending order of their ids, as columns, on the disk or in memory.

`Content` is what goes into one; `Segment` is what a reader holds, and reads one column at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError, InputError
from kinhash.index.filter_columns import Mask
from kinhash.index.filter_rows import passing_rows
from kinhash.index.filters import Filter
from kinhash.index.ids import Id, SegmentIds, ascends, concat_ids, id_columns, keys_of, order_of
from kinhash.index.metadata import MetaColumn, StoredMetadata, metadata_columns
from kinhash.index.metadata_merge import concat_metadata, take_metadata
from kinhash.index.storage import ArrayColumn, NewColumn, Readable, SegmentFile, write_segment
from kinhash.index.strings import Strings

_MOST_ROWS = 2**32 - 1  # row numbers are stored in 32 bits
_REMEMBERED = 8  # filters whose answer a segment keeps


@dataclass(frozen=True)
class Content:
    """Items in any order; `keys` are the hashes of string ids, where they are known already."""

    ids: NDArray[np.int64] | Strings
    words: NDArray[np.uint64]  # (n, width)
    metadata: Mapping[str, MetaColumn]
    keys: NDArray[np.uint32] | None = None

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: NDArray[np.int64]) -> Content:
        """Some items, in this order."""
        return Content(
            self.ids.take(rows),
            self.words[rows],
            take_metadata(self.metadata, rows, len(self)),
            None if self.keys is None else self.keys[rows],
        )

    def ordered(self) -> Content:
        """The same items in ascending order of their ids; nothing is copied where they are so already."""
        if isinstance(self.ids, Strings) or not ascends(self.ids):
            order = order_of(self.ids)
            if (order[1:] < order[:-1]).any():
                return self.take(order)
        return self


def concat(parts: Sequence[Content]) -> Content:
    """The items of several contents, in ascending order of their ids."""
    if len(parts) == 1:
        return parts[0].ordered()
    keys = None if any(part.keys is None for part in parts) else [part.keys for part in parts]
    joined = Content(
        concat_ids([part.ids for part in parts]),
        np.concatenate([part.words for part in parts]),
        concat_metadata([part.metadata for part in parts], [len(part) for part in parts]),
        None if keys is None else np.concatenate([part for part in keys if part is not None]),
    )
    return joined.ordered()


class Segment:
    """Reads a segment; every value from a file passes through its checksums."""

    def __init__(self, attributes: Mapping[str, Any], rows: int, columns: dict[str, Readable]) -> None:
        self.rows = rows
        self.ids = SegmentIds(attributes, rows, columns)
        self.metadata = StoredMetadata(attributes, columns)
        self._words = columns["codes"]
        self._answers: dict[str, Mask | NDArray[np.int64]] = {}
        self._answering = (
            threading.Lock()
        )  # threads share a segment; a dict must not change under another's hands

    @cached_property
    def span(self) -> tuple[Id, Id]:
        """The first and the last id."""
        first, last = self.ids.take(np.array([0, self.rows - 1]))
        return (first, last) if isinstance(first, str) else (int(first), int(last))

    def words(self) -> NDArray[np.uint64]:
        """All codes, (n, width)."""
        return self._words.all()

    def take_words(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return self._words.take(rows)

    def passing(self, where: Filter) -> Mask | NDArray[np.int64]:
        """Which rows pass a filter: a mask, or the rows themselves where they are few.

        A segment never changes, so the last answers are kept.
        """
        name = repr(where)
        with self._answering:
            known = self._answers.get(name)
        if known is None:
            known = passing_rows(where, self.metadata.column, self.rows)
            with self._answering:
                while len(self._answers) >= _REMEMBERED:
                    del self._answers[next(iter(self._answers))]
                self._answers[name] = known
        return known

    def content(self, dead: NDArray[np.int64] | None = None) -> Content:
        """Everything but the dead rows, as what can be written again."""
        whole = Content(self.ids.all(), self.words(), self.metadata.columns(), self.ids.keys())
        if dead is None or not len(dead):
            return whole
        alive = np.ones(self.rows, dtype=np.bool_)
        alive[dead] = False
        return whole.take(np.flatnonzero(alive))


def segment_in_memory(content: Content, bits: int) -> Segment:
    """A segment that is not written; it finds no string ids, whoever holds it knows where they are."""
    attributes, columns = _columns(content, bits)
    return Segment(attributes, len(content), {name: ArrayColumn(column) for name, column in columns.items()})


def write_content(path: Path, content: Content, bits: int) -> int:
    """Write ordered content as a segment file; returns the checksum that identifies it."""
    if len(content) > _MOST_ROWS:
        raise InputError(
            f"{len(content)} items do not fit into one segment; add at most {_MOST_ROWS} at once"
        )
    if isinstance(content.ids, Strings) and content.keys is None:
        content = Content(content.ids, content.words, content.metadata, keys_of(content.ids.to_list()))
    return write_segment(path, len(content), *_columns(content, bits))


def _columns(content: Content, bits: int) -> tuple[dict[str, Any], dict[str, NewColumn]]:
    attributes, columns = id_columns(content.ids, content.keys)
    listed, meta = metadata_columns(content.metadata)
    codes = NewColumn("<u8", [content.words], content.words.shape[1])
    return attributes | {"bits": bits, "metadata": listed}, columns | {"codes": codes} | meta


class StoredSegment(Segment):
    """A segment with its file; `number` names it in the manifest."""

    def __init__(self, path: Path, number: int, checksum: int, bits: int) -> None:
        self.file = SegmentFile(path, checksum)
        self.number = number
        super().__init__(self.file.attributes, self.file.rows, dict(self.file.columns))
        if self.file.attributes["bits"] != bits:
            raise FormatError(f"{path} holds {self.file.attributes['bits']}-bit codes in a {bits}-bit index")
