"""Ids: strings or integers, one kind per index, kept as what they were.

A segment finds an id without SQLite: ascending integers by binary search in the ids themselves; anything else by
a sorted column of 32-bit keys (a hash of the id) beside the row of each key. Two ids with one key are told
apart by comparing the ids.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import InputError
from kinhash.index.storage import Column, NewColumn, SegmentFile
from kinhash.index.strings import StoredStrings, Strings

Id = int | str
Ids = NDArray[np.int64] | list[str]  # a checked batch


def kind_of(ids: Ids) -> str:
    return "str" if isinstance(ids, list) else "int"


def checked_ids(ids: Any) -> Ids:
    """A batch of ids as int64 or as a list of str; a single id is a batch of one. Repeats are not looked for."""
    if isinstance(ids, str | int | np.integer) and not isinstance(ids, bool):
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


def ascends(ids: NDArray[np.int64]) -> bool:
    return bool((ids[1:] > ids[:-1]).all())


def keys_of(ids: Ids) -> NDArray[np.uint32]:
    """32-bit hashes: CRC-32 of the UTF-8 bytes; the upper half of a multiplication for integers."""
    if isinstance(ids, list):
        return np.fromiter((zlib.crc32(text.encode()) for text in ids), dtype=np.uint32, count=len(ids))
    mixed = ids.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(32)).astype(np.uint32)


class SegmentIds:
    """The ids of one segment."""

    def __init__(self, file: SegmentFile) -> None:
        self.kind: str = file.attributes["ids"]
        self._start: int | None = file.attributes.get("first_id")
        self._rows = file.rows
        self._ids: Column | StoredStrings | None = None
        if self.kind == "str":
            self._ids = StoredStrings(file.columns, "ids")
        elif self._start is None:
            self._ids = file.columns["ids"]
        self._keys, self._order = file.columns.get("keys"), file.columns.get("order")

    def take(self, rows: NDArray[np.int64]) -> Ids:
        if self._ids is None:
            return rows + np.int64(self._start or 0)
        found: Ids = self._ids.take(rows)
        return found

    def all(self) -> NDArray[np.int64] | Strings:
        if self._ids is None:
            return np.arange(self._rows, dtype=np.int64) + np.int64(self._start or 0)
        values: NDArray[np.int64] | Strings = self._ids.all()
        return values

    def keys(self) -> NDArray[np.uint32]:
        """The key of every row."""
        if self._keys is None or self._order is None:
            return keys_of(np.asarray(self.all()))
        keys = np.empty(self._rows, dtype=np.uint32)
        keys[self._order.all()] = self._keys.all()
        return keys

    def find(self, ids: Ids) -> NDArray[np.int64]:
        """The row of every id, -1 where the segment does not hold it."""
        if kind_of(ids) != self.kind:
            return np.full(len(ids), -1, dtype=np.int64)
        if self._keys is not None:
            return self._find_by_key(ids)
        values = np.asarray(ids)
        if self._ids is None:
            start = self._start or 0
            inside = (values >= start) & (values <= start + self._rows - 1)
            return np.where(inside, values - np.where(inside, start, values), -1)
        column = np.asarray(self._ids.all())
        row = np.minimum(np.searchsorted(column, values), self._rows - 1)
        return np.where(column[row] == values, row, -1)

    def _find_by_key(self, ids: Ids) -> NDArray[np.int64]:
        assert self._keys is not None
        assert self._order is not None
        keys, order, wanted = self._keys.all(), self._order.all(), keys_of(ids)
        place = np.searchsorted(keys, wanted)
        found = np.full(len(ids), -1, dtype=np.int64)
        left = np.flatnonzero(keys[np.minimum(place, self._rows - 1)] == wanted)
        while len(left):  # one round, and a further one for ids that share a key
            rows = order[place[left]].astype(np.int64)
            hit = self._equal(ids, left, rows)
            found[left[hit]] = rows[hit]
            left = left[~hit]
            place[left] += 1
            left = left[place[left] < self._rows]
            left = left[keys[place[left]] == wanted[left]]
        return found

    def _equal(self, ids: Ids, which: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        stored = self.take(rows)
        if isinstance(ids, list):
            pairs = zip(which.tolist(), stored, strict=True)
            return np.array([ids[i] == text for i, text in pairs], dtype=np.bool_)
        return np.asarray(ids[which] == stored)


def id_columns(
    ids: NDArray[np.int64] | Strings, keys: NDArray[np.uint32]
) -> tuple[dict[str, Any], dict[str, NewColumn]]:
    """Attributes and columns that `SegmentIds` reads; `keys` belongs to the rows."""
    if not isinstance(ids, Strings) and ascends(ids):
        if len(ids) and int(ids[-1]) - int(ids[0]) == len(ids) - 1:
            return {"ids": "int", "first_id": int(ids[0])}, {}
        return {"ids": "int"}, {"ids": NewColumn("<i8", [ids])}
    order = np.argsort(keys, kind="stable")
    lookup = {"keys": NewColumn("<u4", [keys[order]]), "order": NewColumn("<u4", [order])}
    if isinstance(ids, Strings):
        return {"ids": "str"}, ids.columns("ids") | lookup
    return {"ids": "int"}, {"ids": NewColumn("<i8", [ids])} | lookup


def concat_ids(parts: Sequence[NDArray[np.int64] | Strings]) -> NDArray[np.int64] | Strings:
    if all(isinstance(part, Strings) for part in parts):
        return Strings.concat([part for part in parts if isinstance(part, Strings)])
    return np.concatenate([np.asarray(part) for part in parts])
