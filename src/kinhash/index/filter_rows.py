"""Which rows of a segment pass a filter: block by block, on all cores, as rows where they are few.

The masks of a block are small enough to be used again by the next one; a mask of all rows at once costs more in
fresh memory than in comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.index.filter_columns import Mask, passing, value_range
from kinhash.index.filters import Compare, Filter
from kinhash.index.metadata import MetaColumn
from kinhash.kernels.jit import compiled
from kinhash.kernels.threads import available_threads

SPARSE = 16  # rows instead of a mask where at most one in this many passes
_BLOCK = 1 << 22
_SPARE = 2  # the kernel writes so far beyond the rows that it finds


def passing_rows(
    where: Filter, column_of: Callable[[str], MetaColumn | None], rows: int
) -> Mask | NDArray[np.int64]:
    """A mask, or ascending rows where at most one in SPARSE passes."""
    columns = {key: column_of(key) for key in keys_of(where)}
    # the texts of a json column are read once per block, so there is one block for it
    whole = any(column is not None and column.kind == "json" for column in columns.values())
    size = rows if whole else _BLOCK
    starts = range(0, rows, max(size, 1))
    between = _simple(where, columns)

    def block(start: int) -> Mask | NDArray[np.int64]:
        nonlocal between
        stop = min(start + size, rows)
        if (simple := between) is not None:
            few_rows = _rows_between(*simple, start, stop)
            if len(few_rows) * SPARSE <= stop - start:
                return few_rows
            between = None  # many pass: the other blocks begin with a mask
        mask = passing(where, lambda key: _part(columns[key], start, stop), stop - start)
        few = int(np.count_nonzero(mask))
        return _rows_of(mask, start, few) if few * SPARSE <= len(mask) else mask

    if len(starts) < 2:
        found = [block(start) for start in starts]
    else:
        with ThreadPoolExecutor(available_threads()) as pool:
            found = list(pool.map(block, starts))
    if all(part.dtype != np.bool_ for part in found):
        none: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *found])
    mask = np.zeros(rows, dtype=np.bool_)
    for start, part in zip(starts, found, strict=True):
        if part.dtype == np.bool_:
            mask[start : start + len(part)] = part
        else:
            mask[part] = True
    few = int(np.count_nonzero(mask))
    return _rows_of(mask, 0, few) if few * SPARSE <= rows else mask


def _simple(
    where: Filter, columns: Mapping[str, MetaColumn | None]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Values and (low, high) where one range of one full column of whole numbers decides."""
    if not isinstance(where, Compare) or not compiled():
        return None
    column = columns[where.key]
    if column is None or column.rows is not None:
        return None
    limits = value_range(column, where)
    return None if limits is None else (column.values, np.array(limits, dtype=column.values.dtype))


def _rows_between(values: NDArray[Any], limits: NDArray[Any], start: int, stop: int) -> NDArray[np.int64]:
    from kinhash.kernels.range_rows import range_rows

    out = np.empty(stop - start + _SPARE, dtype=np.int64)  # only what is written takes memory
    return out[: range_rows(values[start:stop], limits, start, out)].copy()


def keys_of(where: Filter) -> set[str]:
    """The keys that a filter names."""

    def walk(part: Filter) -> Iterator[str]:
        if isinstance(part, Compare):
            yield part.key
        else:
            for inner in part.parts:
                yield from walk(inner)

    return set(walk(where))


def _part(column: MetaColumn | None, start: int, stop: int) -> MetaColumn | None:
    """Rows start to stop of a column."""
    if column is None:
        return None
    if column.rows is None:
        return replace(column, values=column.values[start:stop])
    first, last = np.searchsorted(column.rows, [start, stop])
    return replace(column, values=column.values[first:last], rows=column.rows[first:last] - start)


def _rows_of(mask: Mask, start: int, few: int) -> NDArray[np.int64]:
    if not compiled():
        return np.flatnonzero(mask) + start
    from kinhash.kernels import scan_gather

    out = np.empty(few + _SPARE, dtype=np.int64)
    scan_gather.passing_rows(mask.ctypes.data, len(mask), start, out)
    return out[:few]
