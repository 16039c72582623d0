"""Metadata as columns: one per key and segment, so that a filter reads only the keys it names.

A column holds the items that have the key with a value other than null. Its kind is `int`, `float`, `str` (each value
a number into a sorted dictionary of strings) or `json` (the same, into sorted texts of JSON: booleans, lists,
objects, and keys whose values are of several kinds).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import InputError
from kinhash.index.metadata_checks import Metadata, check_key, checked_items, lone_surrogate, rows_of_columns
from kinhash.index.storage import NewColumn, Readable
from kinhash.index.strings import StoredStrings, Strings

EXACT = 2**53  # every whole number up to here is a float64
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class MetaColumn:
    """The values of one key. `rows` ascend; None means every row. `words` is the dictionary of `str` and `json`."""

    kind: str
    values: NDArray[Any]
    rows: NDArray[np.int64] | None = None
    words: Strings | None = None
    nulls: NDArray[np.int64] = field(
        default_factory=lambda: _NO_ROWS
    )  # rows whose value is null: kept, never found


# ---- rows -> columns -----------------------------------------------------------------------------------


def shred(items: Sequence[Metadata]) -> dict[str, MetaColumn]:
    """Columns of a list of dicts."""
    rows: dict[str, list[int]] = {}
    values: dict[str, list[Any]] = {}
    nulls: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        for key, value in item.items():
            rows.setdefault(key, [])
            values.setdefault(key, [])
            if value is None:
                nulls.setdefault(key, []).append(row)
            else:
                rows[key].append(row)
                values[key].append(value)
    return {key: _column(values[key], rows[key], nulls.get(key, []), len(items)) for key in sorted(values)}


def _column(values: list[Any], rows: list[int], nulls: list[int], total: int) -> MetaColumn:
    where = None if len(rows) == total else np.array(rows, dtype=np.int64)
    none = np.array(nulls, dtype=np.int64)
    kinds = {type(value) for value in values}
    if values and kinds <= {int, float}:
        numbers = _numbers(values, kinds)
        if numbers is not None:
            return MetaColumn("int" if kinds == {int} else "float", numbers, where, None, none)
    texts = values if kinds <= {str} else [canonical(value) for value in values]
    distinct = sorted(set(texts))
    place = {text: i for i, text in enumerate(distinct)}
    codes = np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts))
    kind = "str" if kinds <= {str} else "json"
    return MetaColumn(kind, narrow(codes), where, Strings.from_list(distinct), none)


def _numbers(values: list[Any], kinds: set[type]) -> NDArray[Any] | None:
    """Whole numbers in the narrowest type, or float64; None where neither holds them exactly."""
    whole = [value for value in values if isinstance(value, int)]
    if kinds == {int}:
        return None if max(whole) >= 2**63 or min(whole) < -(2**63) else narrow(np.array(whole, np.int64))
    if any(abs(value) > EXACT for value in whole):
        return None
    return np.array(values, dtype=np.float64)


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    """The same whole numbers in as few bytes as hold them."""
    if not len(values):
        return values.astype(np.int8)
    low, high = int(values.min()), int(values.max())
    for dtype in (np.int8, np.int16, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values


def shred_arrays(columns: Mapping[str, Any], count: int) -> dict[str, MetaColumn]:
    """Columns of columns; NumPy's numbers and strings are never turned into Python objects."""
    for key in columns:
        check_key(key)
    shredded = {}
    for key in sorted(columns):
        values = columns[key]
        fast = _fast_column(key, values, count) if isinstance(values, np.ndarray) else None
        if fast is None:
            fast = shred(checked_items(rows_of_columns({key: values}, count)))[key]
        shredded[key] = fast
    return shredded


def _fast_column(key: str, values: NDArray[Any], count: int) -> MetaColumn | None:
    if values.shape != (count,):
        raise InputError(f"metadata column {key!r} has shape {values.shape} for {count} ids")
    if np.issubdtype(values.dtype, np.integer) and values.dtype != np.uint64:
        return MetaColumn("int", narrow(values.astype(np.int64)))
    if np.issubdtype(values.dtype, np.floating) and np.isfinite(values).all():
        return MetaColumn("float", values.astype(np.float64))
    if values.dtype.kind == "U":
        distinct, codes = np.unique(values, return_inverse=True)
        try:
            words = Strings.from_list(distinct.tolist())
        except UnicodeEncodeError as error:
            raise InputError(
                f"metadata column {key!r} is not valid Unicode text ({lone_surrogate(error)}): decode it anew"
            ) from None
        return MetaColumn("str", narrow(codes.astype(np.int64)), None, words)
    return None


# ---- columns -> segment -> columns ---------------------------------------------------------------------


def metadata_columns(columns: Mapping[str, MetaColumn]) -> tuple[list[dict[str, Any]], dict[str, NewColumn]]:
    """The attribute `metadata` and the columns of a segment that `StoredMetadata` reads."""
    attributes, new = [], {}
    for number, (key, column) in enumerate(columns.items()):
        attributes.append({"key": key, "kind": column.kind})
        new[f"meta.{number}"] = NewColumn(column.values.dtype.newbyteorder("<").str, [column.values])
        if column.rows is not None:
            new[f"meta.{number}.rows"] = NewColumn("<u4", [column.rows])
        if len(column.nulls):
            new[f"meta.{number}.nulls"] = NewColumn("<u4", [column.nulls])
        if column.words is not None:
            new |= column.words.columns(f"meta.{number}.words")
    return attributes, new


class StoredMetadata:
    """The metadata columns of a segment, read one key at a time."""

    def __init__(self, attributes: Mapping[str, Any], columns: dict[str, Readable]) -> None:
        self._columns = columns
        self.kinds: dict[str, str] = {entry["key"]: entry["kind"] for entry in attributes["metadata"]}
        self._number = {entry["key"]: n for n, entry in enumerate(attributes["metadata"])}

    def column(self, key: str) -> MetaColumn | None:
        """All values of one key; None where no item of the segment has it."""
        if key not in self._number:
            return None
        name = f"meta.{self._number[key]}"
        rows, nulls = self._columns.get(f"{name}.rows"), self._columns.get(f"{name}.nulls")
        words = None
        if f"{name}.words.offsets" in self._columns:
            words = StoredStrings(self._columns, f"{name}.words").all()
        return MetaColumn(
            self.kinds[key],
            self._columns[name].all(),
            None if rows is None else rows.all().astype(np.int64),
            words,
            _NO_ROWS if nulls is None else nulls.all().astype(np.int64),
        )

    def columns(self) -> dict[str, MetaColumn]:
        found = {key: self.column(key) for key in self.kinds}
        return {key: column for key, column in found.items() if column is not None}

    def take(self, rows: NDArray[np.int64]) -> list[Metadata]:
        """The dicts of some rows."""
        items: list[Metadata] = [{} for _ in rows]
        for key, number in self._number.items():
            name = f"meta.{number}"
            present, places = self._places(f"{name}.rows", rows)
            stored = self._columns[name].take(places)
            for i, value in zip(present.tolist(), self._decoded(key, name, stored), strict=True):
                items[i][key] = value
            if f"{name}.nulls" in self._columns:
                for i in self._places(f"{name}.nulls", rows)[0].tolist():
                    items[i][key] = None
        return items

    def _places(self, name: str, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of `rows` a column of rows names, and where."""
        if name not in self._columns:
            return np.arange(len(rows)), rows
        listed = self._columns[name].all()
        if not len(listed):
            return _NO_ROWS, _NO_ROWS
        place = np.minimum(np.searchsorted(listed, rows), len(listed) - 1)
        present = np.flatnonzero(listed[place] == rows)
        return present, place[present]

    def _decoded(self, key: str, name: str, stored: NDArray[Any]) -> list[Any]:
        if self.kinds[key] in ("int", "float"):
            return stored.tolist()
        texts = StoredStrings(self._columns, f"{name}.words").take(stored)
        return texts if self.kinds[key] == "str" else [json.loads(text) for text in texts]
