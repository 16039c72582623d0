"""Evaluates a filter over metadata columns: one comparison of a whole column, or one per distinct value."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.index.filters import Compare, Filter, holds
from kinhash.index.metadata import MetaColumn
from kinhash.index.strings import Strings

Mask = NDArray[np.bool_]
_NUMPY: dict[str, Callable[[Any, Any], Any]] = {
    "$lt": np.less,
    "$lte": np.less_equal,
    "$gt": np.greater,
    "$gte": np.greater_equal,
    "$eq": np.equal,
}


def passing(where: Filter, column_of: Callable[[str], MetaColumn | None], rows: int) -> Mask:
    """Which of `rows` rows pass."""
    if isinstance(where, Compare):
        column = column_of(where.key)
        return np.zeros(rows, dtype=np.bool_) if column is None else _spread(column, where, rows)
    masks = [passing(part, column_of, rows) for part in where.parts]
    if where.operator == "not":
        return ~masks[0]
    combine = np.logical_and if where.operator == "and" else np.logical_or
    return np.asarray(combine.reduce(masks))


def _spread(column: MetaColumn, where: Compare, rows: int) -> Mask:
    """The answer for the values of a column, put where its rows are."""
    if where.operator == "$exists":
        found = np.ones(len(column.values), dtype=np.bool_)
    elif column.kind in ("int", "float"):
        found = _numbers(column.values, where.operator, where.value)
    elif column.words is not None:
        found = _coded(column.values, column.words, column.kind, where)
    if column.rows is None:
        return found
    mask = np.zeros(rows, dtype=np.bool_)
    mask[column.rows[found]] = True
    return mask


def value_range(column: MetaColumn, where: Compare) -> tuple[Any, Any] | None:
    """(low, high) where exactly the stored whole numbers from low to high pass; None where it is not so simple."""
    dtype, operator, value = column.values.dtype, where.operator, where.value
    if column.kind == "str" and column.words is not None and operator in _NUMPY:
        start, stop = _code_range(column.words, operator, value)
        return (dtype.type(start), dtype.type(stop - 1)) if start < stop else None
    if (
        column.kind != "int"
        or operator not in _NUMPY
        or isinstance(value, bool)
        or not isinstance(value, int | float)
    ):
        return None
    operator, value = _representable(dtype, operator, value)
    if value is None:
        return None
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    low, high = {
        "$eq": (int(value), int(value)),
        "$lt": (least, int(value) - 1),
        "$lte": (least, int(value)),
        "$gt": (int(value) + 1, most),
        "$gte": (int(value), most),
    }[operator]
    return (dtype.type(low), dtype.type(high)) if low <= high else None


# ---- numbers -------------------------------------------------------------------------------------------


def _numbers(values: NDArray[Any], operator: str, value: Any) -> Mask:
    if operator == "$in":
        found = [_numbers(values, "$eq", option) for option in value]
        return np.asarray(np.logical_or.reduce(found)) if found else np.zeros(len(values), dtype=np.bool_)
    if operator == "$ne":
        return ~_numbers(values, "$eq", value)
    if operator == "$contains" or isinstance(value, bool) or not isinstance(value, int | float):
        return np.zeros(len(values), dtype=np.bool_)
    operator, value = _representable(values.dtype, operator, value)
    if value is None:
        return np.full(len(values), operator == "all")
    return np.asarray(_NUMPY[operator](values, value))


def _representable(dtype: np.dtype[Any], operator: str, value: float) -> tuple[str, Any]:
    """The same comparison with a value that the type holds exactly; (all or none, None) where all answer alike."""
    if np.issubdtype(dtype, np.floating):
        near: Any = _as_float(value)
        below = near < value
    else:
        near = math.floor(value)
        below = near != value
        limits = np.iinfo(dtype)
        if not limits.min <= near <= limits.max:
            passes = (operator in ("$gt", "$gte")) if near < limits.min else (operator in ("$lt", "$lte"))
            return ("all" if passes else "none"), None
    if near == value:
        return operator, dtype.type(near)
    if operator == "$eq":
        return "none", None
    if below:  # near < value < the next one
        return ("$gt" if operator in ("$gt", "$gte") else "$lte"), dtype.type(near)
    return ("$gte" if operator in ("$gt", "$gte") else "$lt"), dtype.type(near)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# ---- dictionaries --------------------------------------------------------------------------------------


def _coded(codes: NDArray[Any], words: Strings, kind: str, where: Compare) -> Mask:
    if kind == "json":
        texts = words.to_list()
        answer = [holds(json.loads(text), where.operator, where.value) for text in texts]
        return np.array(answer, dtype=np.bool_)[codes] if texts else np.zeros(len(codes), dtype=np.bool_)
    if where.operator == "$ne":
        return ~_coded(codes, words, kind, Compare(where.key, "$eq", where.value))
    if where.operator == "$in":
        passes = np.zeros(len(words) + 1, dtype=np.bool_)
        for option in where.value:
            start, stop = _code_range(words, "$eq", option)
            passes[start:stop] = True
        return passes[codes]
    start, stop = _code_range(words, where.operator, where.value)
    if stop - start == 1:
        return np.asarray(codes == start)
    return np.asarray((codes >= start) & (codes < stop))


def _code_range(words: Strings, operator: str, value: Any) -> tuple[int, int]:
    """The codes that pass lie between two numbers, because the dictionary is sorted."""
    if not isinstance(value, str) or operator == "$contains":
        return 0, 0
    key = value.encode(errors="surrogatepass")
    first, past = bisect_left(words, key), bisect_right(words, key)
    return {
        "$eq": (first, past),
        "$lt": (0, first),
        "$lte": (0, past),
        "$gt": (past, len(words)),
        "$gte": (first, len(words)),
    }[operator]
