"""What is no metadata is refused before anything is stored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinhash.errors import InputError
from kinhash.index.checks import DEEPEST
from kinhash.index.metadata import shred_arrays
from kinhash.index.metadata_checks import checked_rows


def test_columns_become_rows() -> None:
    assert checked_rows({"i": np.array([1, 2])}, 2) == [{"i": 1}, {"i": 2}]
    assert checked_rows({"i": np.array([1])}, 1) == [{"i": 1}]
    assert checked_rows({}, 2) == [{}, {}]
    assert checked_rows(None, 2) is None


@pytest.mark.parametrize(
    ("given", "count", "message"),
    [
        ([{}], 2, "1 dicts of metadata for 2 ids"),
        ("text", 4, "got str"),
        ([1, {}], 2, "item 0 is a int"),
        ([{}, {"a": math.nan}], 2, "item 1 is not JSON"),
        ([{"a": {1, 2}}], 1, "item 0 is not JSON"),
        ([{1: 2}], 1, "key that is not a string"),
        ([{"a": "\ud800"}], 1, r"item 0 is not valid Unicode text \(lone surrogate '\\ud800'\): decode"),
        ([{}, {"\udfff": 1}], 2, "item 1 is not valid Unicode"),
        ({"a": [1]}, 2, "column 'a' has 1 values for 2 ids"),
        ({"a": "xy"}, 2, "column 'a' is no sequence"),
    ],
)
def test_refused(given: Any, count: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_rows(given, count)


@pytest.mark.parametrize("key", [2020, None, (1,), "\udfff"])
@pytest.mark.parametrize("values", [np.arange(2), [1, 2]])
def test_keys_of_columns_are_text(key: Any, values: Any) -> None:
    wrong: Any
    for wrong in ({key: values}, {"a": values, key: values}):
        with pytest.raises(InputError, match=r"a key of metadata is a string, got|not valid Unicode text"):
            shred_arrays(wrong, 2)
        with pytest.raises(InputError, match=r"a key of metadata is a string, got|not valid Unicode text"):
            checked_rows(wrong, 2)


@pytest.mark.parametrize("levels", [DEEPEST, 400, 100_000])
def test_nesting_without_end_is_refused(levels: int) -> None:
    deep: list[Any] = []
    for _ in range(levels):
        deep = [deep]
    with pytest.raises(InputError, match="item 0 is nested too deeply to be stored, more than 100 levels"):
        checked_rows([{"a": deep}], 1)


def test_nesting_to_the_limit() -> None:
    deep: Any = 1
    for _ in range(DEEPEST - 1):
        deep = {"b": deep}
    assert checked_rows([{"a": deep}], 1) == [{"a": deep}]
