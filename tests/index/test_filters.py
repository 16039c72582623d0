"""Filters: both forms say the same, columns answer as single items do, and mistakes are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinhash.errors import InputError
from kinhash.index.checks import DEEPEST
from kinhash.index.filter_columns import passing
from kinhash.index.filters import parse_filter, same
from kinhash.index.metadata import shred

VALUES = (
    st.integers(-3, 3)
    | st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63, 2**70, 0.5, -2.5, 1e300, 2.0**53])
    | st.sampled_from(["a", "b", "ab", "", "é"])
    | st.booleans()
    | st.lists(st.integers(0, 2) | st.booleans(), max_size=2)
)
COLUMNS = st.one_of(
    *(st.dictionaries(st.just("k"), values) for values in (st.integers(-3, 3), st.floats(-3, 3), st.sampled_from("abé"))),
    st.dictionaries(st.just("k"), st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63)])),
    st.dictionaries(st.just("k"), VALUES | st.none()),
)  # fmt: skip
OPERATORS = st.sampled_from(["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"])


def plainly(stored: Any, operator: str, value: Any) -> bool:
    """One item, one comparison, in the words of the documentation."""
    kinds = [("number" if type(x) in (int, float) else type(x).__name__) for x in (stored, value)]
    if operator in ("$eq", "$ne"):
        equal = kinds[0] == kinds[1] and (repr_json(stored) == repr_json(value))
        return equal == (operator == "$eq")
    if kinds[0] != kinds[1]:
        return False
    return bool(
        {
            "$lt": lambda: stored < value,
            "$lte": lambda: stored <= value,
            "$gt": lambda: stored > value,
            "$gte": lambda: stored >= value,
        }[operator]()
    )


def repr_json(value: Any) -> Any:
    """Equal for equal JSON: booleans are kept apart from numbers."""
    if isinstance(value, list):
        return [repr_json(part) for part in value]
    return (type(value) is bool, value)


def mask(items: list[dict[str, Any]], where: Any) -> list[bool]:
    columns = shred(items)
    return passing(parse_filter(where), columns.get, len(items)).tolist()


@settings(max_examples=400)
@given(st.lists(COLUMNS, min_size=1, max_size=6), OPERATORS, VALUES)
def test_comparisons(items: list[dict[str, Any]], operator: str, value: Any) -> None:
    if operator not in ("$eq", "$ne") and isinstance(value, bool | list):
        with pytest.raises(InputError, match="takes a number or a string"):
            parse_filter({"k": {operator: value}})
        return
    wanted = [item.get("k") is not None and plainly(item["k"], operator, value) for item in items]
    assert mask(items, {"k": {operator: value}}) == wanted


@settings(max_examples=200)
@given(st.lists(COLUMNS, min_size=1, max_size=6), st.lists(VALUES, max_size=3))
def test_in_contains_and_exists(items: list[dict[str, Any]], values: list[Any]) -> None:
    stored = [item.get("k") for item in items]
    found = [s is not None and any(plainly(s, "$eq", value) for value in values) for s in stored]
    assert mask(items, {"k": {"$in": values}}) == found
    assert mask(items, {"k": {"$exists": True}}) == [s is not None for s in stored]
    assert mask(items, {"k": None}) == [s is None for s in stored]
    if values:
        found = [isinstance(s, list) and any(plainly(x, "$eq", values[0]) for x in s) for s in stored]
        assert mask(items, {"k": {"$contains": values[0]}}) == found


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a = 1", {"a": 1}),
        ("a == 'x'", {"a": "x"}),
        ('a != "it\'s"', {"a": {"$ne": "it's"}}),
        (r"a = 'it\'s \"so\"'", {"a": 'it\'s "so"'}),
        ("a = 'say \"so\"'", {"a": 'say "so"'}),
        (r'a = "tab\tq\"é"', {"a": 'tab\tq"é'}),
        ("a >= -1.5e3 and a < .5", {"$and": [{"a": {"$gte": -1500.0}}, {"a": {"$lt": 0.5}}]}),
        ("a in (1, 'x', true)", {"a": {"$in": [1, "x", True]}}),
        ("a not in (1)", {"$not": {"a": {"$in": [1]}}}),
        ("has camera.model-2", {"camera.model-2": {"$exists": True}}),
        ("not has a", {"$not": {"a": {"$exists": True}}}),
        ("a = null", {"a": None}),
        ("`two words` contains 'x'", {"two words": {"$contains": "x"}}),
        (
            "`and` = 1 AND (b = 1 or NOT c = 2)",
            {"$and": [{"and": 1}, {"$or": [{"b": 1}, {"$not": {"c": 2}}]}]},
        ),
        ("a = 1 or b = 1 and c = 1", {"$or": [{"a": 1}, {"$and": [{"b": 1}, {"c": 1}]}]}),
        ("a = 1 and b = 1 and c = 1", {"a": 1, "b": 1, "c": 1}),
        ("  größe>2 ", {"größe": {"$gt": 2}}),
    ],
)
def test_text_and_dict_say_the_same(text: str, same: dict[str, Any]) -> None:
    assert parse_filter(text) == parse_filter(same)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "expected a key at character 1, but it ends"),
        ("a", "expected an operator at character 2"),
        ("a = ", "expected a number"),
        ("a = b", "expected a number.* at character 5, but there is 'b'"),
        ("a = 1 b = 2", "or the end at character 7"),
        ("(a = 1", r"expected `\)`"),
        ("a in 1", r"expected `\(`"),
        ("a = 'x", "cannot read"),
        ("a = 1x", "cannot read '1x' at character 5"),
        (r"a = '\q'", "backslash"),
        ("and = 1", "expected a key"),
        ({}, "empty dict"),
        ({"$nor": []}, "unknown operator"),
        ({"a": {"$near": 1}}, "unknown operator '\\$near' for key 'a'"),
        ({"$and": []}, "not empty"),
        ({"$or": {"a": 1}}, "takes a list"),
        ({"a": {"$in": 3}}, "takes a list"),
        ({"a": {"$in": [None]}}, "null"),
        ({"a": {"$lt": None}}, "null has no order"),
        ({"a": {"$exists": 1}}, "True or False"),
        ({"a": float("nan")}, "no value of JSON"),
        ({"a": object()}, "not JSON"),
        ({1: 2}, "is a string"),
        (7, "dict or a string"),
    ],
)
def test_mistakes_are_named(where: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_filter(where)


def test_what_is_nested_without_end_is_refused() -> None:
    deep: Any = 1
    nots: dict[str, Any] = {"a": 1}
    for _ in range(DEEPEST + 1):
        deep, nots = [deep], {"$not": nots}
    endless: Any = 1
    for _ in range(100_000):
        endless = [endless]
    many = 3000
    for where in (
        "(" * many + "a = 1" + ")" * many,
        "not " * many + "a = 1",
        nots,
        {"a": deep},
        {"a": endless},
    ):
        with pytest.raises(InputError, match="nested more than 100 levels deep"):
            parse_filter(where)
    assert mask([{"a": 1}, {"a": 2}], "(" * 90 + "a = 1" + ")" * 90) == [True, False]
    assert mask([{"a": 1}, {"a": 2}], "not " * 90 + "a = 1") == [True, False]
    assert mask([{"a": 1}, {"a": deep[0]}], {"a": deep[0]}) == [False, True]


def test_stored_values_are_compared_at_any_depth() -> None:
    a: Any = [1, {"x": True}]
    b: Any = [1, {"x": 1}]
    for _ in range(5000):
        a, b = [a], [b]
    assert not same(a, b)
    assert same(a, a)


def test_numbers_of_many_digits() -> None:
    assert mask([{"a": 10**400}, {"a": 1}], f"a = {10**400}") == [True, False]
    with pytest.raises(InputError, match="a number in the filter has 5000 digits"):
        parse_filter("a = " + "9" * 5000)


def test_numpy_values_and_sets_are_understood() -> None:
    assert parse_filter({"a": np.int64(3)}) == parse_filter({"a": 3})
    assert parse_filter({"a": {"$in": {3}}}) == parse_filter({"a": {"$in": [3]}})
