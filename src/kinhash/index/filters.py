"""The language of `where=`: which items a search may return, decided from their metadata before anything is ranked.

As a dict                                              as a string
    {"label": "cat"}                                       label = "cat"
    {"year": {"$gte": 2010, "$lt": 2020}}                  year >= 2010 and year < 2020
    {"label": {"$in": ["cat", "dog"]}}                     label in ("cat", "dog")
    {"tags": {"$contains": "red"}}                         tags contains "red"
    {"owner": {"$exists": True}}                           has owner
    {"$or": [{"year": 2010}, {"$not": {"label": "cat"}}]}  year = 2010 or not label = "cat"

Several keys of one dict, and several operators of one key, must all hold. A key that is missing or null fails every
comparison, `!=` too; only `not` turns that round. Numbers compare with numbers, strings with strings (by code
point); values of different kinds are unequal and have no order. A boolean is no number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinhash.errors import InputError
from kinhash.index.checks import DEEPEST, too_deep

COMPARISONS = ("$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$contains", "$exists")
_ORDER = ("$lt", "$lte", "$gt", "$gte")


@dataclass(frozen=True)
class Compare:
    """One key against one value."""

    key: str
    operator: str
    value: Any


@dataclass(frozen=True)
class Combine:
    """`and`, `or`, or `not` (of one)."""

    operator: str
    parts: tuple[Filter, ...]


Filter = Compare | Combine
Where = Mapping[str, Any] | str | Filter


def parse_filter(where: Where) -> Filter:
    """A filter from either form; anything wrong is an InputError that says where."""
    try:
        found = _parsed(where)
    except RecursionError:
        found = None
    if found is None or _deep(found):
        raise InputError(
            f"where is nested more than {DEEPEST} levels deep: leave out brackets, or flatten it"
        )
    return found


def _deep(where: Filter) -> bool:
    level: list[Filter] = [where]
    for _ in range(DEEPEST):
        level = [part for outer in level if isinstance(outer, Combine) for part in outer.parts]
        if not level:
            return False
    return True


def _parsed(where: Where) -> Filter:
    if isinstance(where, Compare | Combine):
        return where
    if isinstance(where, str):
        from kinhash.index.filter_text import parse_text

        return parse_text(where)
    if not isinstance(where, Mapping):
        raise InputError(f"where is a dict or a string, got {type(where).__name__}")
    return _all_of([_entry(key, value) for key, value in where.items()], "where is an empty dict: pass None")


def _all_of(parts: Sequence[Filter], empty: str) -> Filter:
    if not parts:
        raise InputError(empty)
    return parts[0] if len(parts) == 1 else Combine("and", tuple(parts))


def _entry(key: Any, value: Any) -> Filter:
    if not isinstance(key, str):
        raise InputError(f"a key of metadata is a string, got {key!r} in where")
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not value:
            raise InputError(f"{key} takes a list of filters that is not empty, got {value!r}")
        return Combine(key[1:], tuple(_parsed(part) for part in value))
    if key == "$not":
        return Combine("not", (_parsed(value),))
    if key.startswith("$"):
        raise InputError(f"unknown operator {key!r} in where; there are $and, $or and $not, and after a key "
                         + ", ".join(COMPARISONS))  # fmt: skip
    if isinstance(value, Mapping) and any(isinstance(name, str) and name.startswith("$") for name in value):
        return _all_of([compare(key, name, operand) for name, operand in value.items()], "")
    return compare(key, "$eq", value)


def compare(key: str, operator: str, value: Any) -> Filter:
    """A checked comparison. `key = null` says that the key is missing or null."""
    if operator not in COMPARISONS:
        raise InputError(f"unknown operator {operator!r} for key {key!r}; there are {', '.join(COMPARISONS)}")
    if operator == "$exists":
        if not isinstance(value, bool):
            raise InputError(f"$exists takes True or False, got {value!r} for key {key!r}")
        present = Compare(key, "$exists", True)
        return present if value else Combine("not", (present,))
    value = _plain(key, value)
    if operator == "$in":
        if not isinstance(value, list):
            raise InputError(f"$in takes a list of values, got {value!r} for key {key!r}")
        if None in value:
            raise InputError(f"$in cannot look for null in key {key!r}: combine it with $exists")
    elif value is None:
        if operator not in ("$eq", "$ne"):
            raise InputError(f"null has no order and no parts: {operator} of key {key!r} needs a value")
        return compare(key, "$exists", operator == "$ne")
    if operator in _ORDER and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        raise InputError(f"{operator} takes a number or a string, got {value!r} for key {key!r}")
    return Compare(key, operator, value)


def _plain(key: str, value: Any) -> Any:
    """A value of JSON; NumPy's scalars and tuples are understood."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, set | frozenset | range):
        value = list(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{value} is no value of JSON, so no item can have it: see key {key!r} in where")
    try:
        plain = json.loads(json.dumps(value, allow_nan=False))
        if too_deep(plain):
            raise RecursionError
        return plain
    except (TypeError, ValueError) as error:
        raise InputError(f"key {key!r} is compared with something that is not JSON: {error}") from None


def holds(stored: Any, operator: str, value: Any) -> bool:
    """Whether one stored value, not null, passes one comparison."""
    if operator == "$exists":
        return True
    if operator == "$contains":
        return isinstance(stored, list) and any(same(part, value) for part in stored)
    if operator == "$in":
        return any(same(stored, option) for option in value)
    if operator in ("$eq", "$ne"):
        return same(stored, value) == (operator == "$eq")
    if not (_number(stored) and _number(value)) and not (isinstance(stored, str) and isinstance(value, str)):
        return False
    if operator in ("$lt", "$lte"):
        return bool(stored < value or (operator == "$lte" and stored == value))
    return bool(stored > value or (operator == "$gte" and stored == value))


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values: 1 equals 1.0, but True does not equal 1, at any depth."""
    left = [(a, b)]
    while left:
        a, b = left.pop()
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            left += zip(a, b, strict=True)
        elif isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            left += [(a[key], b[key]) for key in a]
        elif isinstance(a, list | dict) or a != b or not (type(a) is type(b) or (_number(a) and _number(b))):
            return False
    return True


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
