"""Metadata columns of several segments as those of one, and in another order; no row is ever decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.index.metadata import EXACT, MetaColumn, canonical, narrow
from kinhash.index.strings import Strings

Columns = Mapping[str, MetaColumn]


def concat_metadata(parts: Sequence[Columns], lengths: Sequence[int]) -> dict[str, MetaColumn]:
    """The rows of `parts`, of these lengths, one after the other."""
    bases = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    keys = sorted({key for part in parts for key in part})
    merged = {}
    for key in keys:
        found = [
            (part[key], base, n) for part, base, n in zip(parts, bases, lengths, strict=False) if key in part
        ]
        merged[key] = _concat(
            [c for c, _, _ in found], [b for _, b, _ in found], [n for *_, n in found], bases[-1]
        )
    return merged


def _concat(
    columns: Sequence[MetaColumn], bases: Sequence[int], lengths: Sequence[int], total: int
) -> MetaColumn:
    rows: NDArray[np.int64] | None = None
    if sum(lengths) < total or any(column.rows is not None for column in columns):
        spans = zip(columns, bases, lengths, strict=True)
        rows = np.concatenate([base + (np.arange(n) if c.rows is None else c.rows) for c, base, n in spans])
    nulls = np.concatenate([column.nulls + base for column, base in zip(columns, bases, strict=True)])
    filled = [column for column in columns if len(column.values)] or columns[:1]
    kind = _common_kind(filled)
    if kind in ("int", "float"):
        dtype = np.result_type(*(column.values.dtype for column in filled)) if kind == "int" else np.float64
        return MetaColumn(kind, np.concatenate([c.values.astype(dtype) for c in filled]), rows, None, nulls)
    if kind == "json":
        filled = [as_json(column) for column in filled]
    codes, words = _one_dictionary(filled)
    return MetaColumn(kind, codes, rows, words, nulls)


def _common_kind(columns: Sequence[MetaColumn]) -> str:
    kinds = {column.kind for column in columns}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"int", "float"} and all(_exact_as_float(column) for column in columns):
        return "float"
    return "json"


def _exact_as_float(column: MetaColumn) -> bool:
    values = column.values
    return column.kind == "float" or (int(values.min()) >= -EXACT and int(values.max()) <= EXACT)


def as_json(column: MetaColumn) -> MetaColumn:
    """The same values as JSON texts."""
    if column.kind == "json":
        return column
    if column.words is None:
        distinct, codes = np.unique(column.values, return_inverse=True)
        texts = [canonical(value) for value in distinct.tolist()]
    else:
        codes, texts = column.values, [canonical(text) for text in column.words.to_list()]
    words = Strings.from_list(texts)
    order = words.order()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return MetaColumn("json", place[codes], column.rows, words.take(order), column.nulls)


def _one_dictionary(columns: Sequence[MetaColumn]) -> tuple[NDArray[Any], Strings]:
    """Codes into the sorted union of the dictionaries."""
    parts = [column.words for column in columns if column.words is not None]
    every = Strings.concat(parts)
    order = every.order()
    ordered = every.take(order)
    new = _differs_from_previous(ordered)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    bases = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    codes = [
        place[base + column.values.astype(np.int64)] for column, base in zip(columns, bases, strict=False)
    ]
    return narrow(np.concatenate(codes)), ordered.take(np.flatnonzero(new))


def _differs_from_previous(ordered: Strings) -> NDArray[np.bool_]:
    texts = ordered.to_list()
    return np.array([i == 0 or texts[i] != texts[i - 1] for i in range(len(texts))], dtype=np.bool_)


def take_metadata(columns: Columns, rows: NDArray[np.int64], total: int) -> dict[str, MetaColumn]:
    """The columns after row i became the former row rows[i]; keys that no item has any more are left out."""
    taken = {}
    for key, column in columns.items():
        values, listed = column.values, None
        if column.rows is None:
            values = values[rows]
        else:
            listed, places = _moved(column.rows, rows, total)
            values = values[places]
            listed = None if len(listed) == len(rows) else listed
        nulls = _moved(column.nulls, rows, total)[0] if len(column.nulls) else column.nulls
        if len(values) or len(nulls):
            words = column.words
            if words is not None:  # texts that only deleted items had go with them
                used = np.bincount(values, minlength=len(words)) > 0
                words, values = words.take(np.flatnonzero(used)), narrow((np.cumsum(used) - 1)[values])
            taken[key] = MetaColumn(column.kind, values, listed, words, nulls)
    return taken


def _moved(
    listed: NDArray[np.int64], rows: NDArray[np.int64], total: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the listed rows went (ascending), and which of them each is."""
    place = np.full(total, -1, dtype=np.int64)
    place[listed] = np.arange(len(listed))
    moved = place[rows]
    kept = np.flatnonzero(moved >= 0)
    return kept, moved[kept]
