"""Ids: strings or integers, one kind per index, kept as what they were.

The rows of a segment ascend by id, so that ties in row order are ties in id order. Integers are found by binary
search, and need no column at all where they follow each other without gaps; strings by a sorted column of 32-bit
keys (a hash of the id) beside the row of each key. Two ids with one key are told apart by comparing the ids.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.errors import InputError
from kinhash.index.storage import NewColumn, Readable
from kinhash.index.strings import StoredStrings, Strings

Id = int | str
Ids = NDArray[np.int64] | list[str]  # a checked batch


def kind_of(ids: Ids) -> str:
    return "str" if isinstance(ids, list) else "int"


def is_one(ids: Any) -> bool:
    """Whether a caller gave a bare id instead of a batch."""
    return isinstance(ids, str) or is_whole(ids)


def checked_ids(ids: Any) -> Ids:
    """A batch of ids as int64 or as a list of str; a single id is a batch of one. Repeats are not looked for."""
    if is_one(ids):
        ids = [ids]
    if isinstance(ids, range):
        ids = np.arange(ids.start, ids.stop, ids.step)
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise InputError(f"ids are one row of strings or integers, got an array of shape {ids.shape}")
        if np.issubdtype(ids.dtype, np.integer):
            if len(ids) and ids.dtype == np.uint64 and ids.max() > np.iinfo(np.int64).max:
                raise InputError(f"integer ids must fit into 64 signed bits, got {ids.max()}")
            return ids.astype(np.int64)
        ids = ids.tolist()
    if not isinstance(ids, Iterable) or isinstance(ids, Mapping | bytes):
        raise InputError(f"ids are strings or integers, got {type(ids).__name__}")
    return _checked_list(list(ids))


def _checked_list(ids: list[Any]) -> Ids:
    kinds = set(map(type, ids))
    if kinds <= {str}:
        return _checked_strings(ids)
    if any(issubclass(kind, bool | np.bool_) for kind in kinds):
        raise InputError("ids are strings or integers; a boolean is neither")
    if all(issubclass(kind, str) for kind in kinds):
        return _checked_strings([str(value) for value in ids])
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        try:
            return np.array([int(value) for value in ids], dtype=np.int64)
        except OverflowError:
            raise InputError(
                "integer ids must fit into 64 signed bits; use strings for longer ones"
            ) from None
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"ids are all strings or all integers, got {names}")


def _checked_strings(ids: list[str]) -> list[str]:
    try:
        "".join(ids).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"an id is not valid Unicode text: {error}") from None
    if "" in ids:
        raise InputError(f"id number {ids.index('')} is an empty string: give it a name")
    return ids


def check_distinct(ids: Ids) -> None:
    """Refuse a batch that names an id twice."""
    if isinstance(ids, list):
        if len(set(ids)) == len(ids):
            return
        seen: set[str] = set()
        repeated: Id = next(i for i in ids if i in seen or seen.add(i))  # type: ignore[func-returns-value]
    else:
        if ascends(ids):
            return
        values, counts = np.unique(ids, return_counts=True)
        if (counts == 1).all():
            return
        repeated = int(values[counts > 1][0])
    raise InputError(f"id {repeated!r} occurs twice in one call: every id names one item")


def ascends(ids: NDArray[np.int64] | Strings) -> bool:
    """Whether every id is greater than the one before it."""
    if isinstance(ids, Strings):
        return all(a < b for a, b in itertools.pairwise(ids.to_list()))
    return bool((ids[1:] > ids[:-1]).all())


def keys_of(ids: Sequence[str]) -> NDArray[np.uint32]:
    """32-bit hashes: CRC-32 of the UTF-8 bytes."""
    return np.fromiter((zlib.crc32(text.encode()) for text in ids), dtype=np.uint32, count=len(ids))


class SegmentIds:
    """The ids of one segment, ascending."""

    def __init__(self, attributes: Mapping[str, Any], rows: int, columns: dict[str, Readable]) -> None:
        self.kind: str = attributes["ids"]
        self._start: int | None = attributes.get("first_id")
        self._rows = rows
        self._ids: Readable | StoredStrings | None = None
        if self.kind == "str":
            self._ids = StoredStrings(columns, "ids")
        elif self._start is None:
            self._ids = columns["ids"]
        self._keys, self._order = columns.get("keys"), columns.get("order")

    def take(self, rows: NDArray[Any]) -> Ids:
        if self._ids is None:
            return rows.astype(np.int64) + np.int64(self._start or 0)
        found: Ids = self._ids.take(rows)
        return found

    def all(self) -> NDArray[np.int64] | Strings:
        if self._ids is None:
            return np.arange(self._rows, dtype=np.int64) + np.int64(self._start or 0)
        values: NDArray[np.int64] | Strings = self._ids.all()
        return values

    def keys(self) -> NDArray[np.uint32] | None:
        """The key of every row; integers have none."""
        if self._keys is None or self._order is None:
            return None
        keys = np.empty(self._rows, dtype=np.uint32)
        keys[self._order.all()] = self._keys.all()
        return keys

    def find(self, ids: Ids) -> NDArray[np.int64]:
        """The row of every id, -1 where the segment does not hold it."""
        if kind_of(ids) != self.kind or self._rows == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        if isinstance(ids, list):
            return self._find_strings(ids)
        if self._ids is None:
            start = self._start or 0
            inside = (ids >= start) & (ids <= start + self._rows - 1)
            return np.where(inside, ids - np.where(inside, start, ids), -1)
        column = np.asarray(self._ids.all())
        row = np.minimum(np.searchsorted(column, ids), self._rows - 1)
        return np.where(column[row] == ids, row, -1)

    def _find_strings(self, ids: list[str]) -> NDArray[np.int64]:
        assert self._keys is not None
        assert self._order is not None
        keys, order, wanted = self._keys.all(), self._order.all(), keys_of(ids)
        place = np.searchsorted(keys, wanted)
        found = np.full(len(ids), -1, dtype=np.int64)
        left = np.flatnonzero(keys[np.minimum(place, self._rows - 1)] == wanted)
        while len(left):  # one round, and a further one for ids that share a key
            rows = order[place[left]].astype(np.int64)
            stored = self.take(rows)
            pairs = zip(left.tolist(), stored, strict=True)
            hit = np.array([ids[i] == text for i, text in pairs], dtype=np.bool_)
            found[left[hit]] = rows[hit]
            left = left[~hit]
            place[left] += 1
            left = left[place[left] < self._rows]
            left = left[keys[place[left]] == wanted[left]]
        return found


def id_columns(
    ids: NDArray[np.int64] | Strings, keys: NDArray[np.uint32] | None
) -> tuple[dict[str, Any], dict[str, NewColumn]]:
    """Attributes and columns that `SegmentIds` reads; `keys` belongs to the rows of strings."""
    if isinstance(ids, Strings):
        columns = ids.columns("ids")
        if keys is not None:
            order = np.argsort(keys, kind="stable")
            columns["keys"] = NewColumn("<u4", [keys[order]])
            columns["order"] = NewColumn("<u4", [order])
        return {"ids": "str"}, columns
    if len(ids) and int(ids[-1]) - int(ids[0]) == len(ids) - 1:
        return {"ids": "int", "first_id": int(ids[0])}, {}
    return {"ids": "int"}, {"ids": NewColumn("<i8", [ids])}


def concat_ids(parts: Sequence[NDArray[np.int64] | Strings]) -> NDArray[np.int64] | Strings:
    if all(isinstance(part, Strings) for part in parts):
        return Strings.concat([part for part in parts if isinstance(part, Strings)])
    return np.concatenate([part for part in parts if not isinstance(part, Strings)])


def order_of(ids: NDArray[np.int64] | Strings) -> NDArray[np.int64]:
    """The rows in ascending order of their ids."""
    return ids.order() if isinstance(ids, Strings) else np.argsort(ids, kind="stable")


def as_array(ids: Ids) -> NDArray[Any]:
    """int64, or objects of type str."""
    if not isinstance(ids, list):
        return ids
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array


def id_at(ids: Ids, place: int) -> Id:
    """One id of a batch as Python's own integer or string."""
    name = ids[place]
    return name if isinstance(name, str) else int(name)


def plain(ids: Ids) -> list[Id]:
    """Python's own integers or strings."""
    return list(ids) if isinstance(ids, list) else ids.tolist()
