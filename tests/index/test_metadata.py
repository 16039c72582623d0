"""Metadata columns give back what was put in, alone, merged, and in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinhash.errors import InputError
from kinhash.index.metadata import (
    MetaColumn,
    StoredMetadata,
    metadata_columns,
    shred,
    shred_arrays,
)
from kinhash.index.metadata_merge import concat_metadata, take_metadata
from kinhash.index.storage import ArrayColumn

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé\x00", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
SIMPLE = st.integers(-200, 200) | st.floats(-2, 2) | st.sampled_from(["a", "b", "long text"]) | st.none()
ITEM = st.dictionaries(st.sampled_from("kmnp"), JSON | SIMPLE, max_size=3)


def read_back(columns: dict[str, MetaColumn], rows: Any) -> list[dict[str, Any]]:
    attributes, new = metadata_columns(columns)
    stored = StoredMetadata({"metadata": attributes}, {name: ArrayColumn(c) for name, c in new.items()})
    assert stored.columns().keys() == columns.keys()
    return stored.take(np.asarray(rows, dtype=np.int64))


@given(st.lists(ITEM, max_size=8), st.randoms())
def test_round_trip_in_any_order(items: list[dict[str, Any]], random: Any) -> None:
    rows = list(range(len(items)))
    random.shuffle(rows)
    assert read_back(shred(items), rows) == [items[row] for row in rows]


@given(st.lists(st.lists(ITEM, max_size=4), min_size=1, max_size=4), st.data())
def test_merged_and_reordered(parts: list[list[dict[str, Any]]], data: st.DataObject) -> None:
    items = [item for part in parts for item in part]
    columns = concat_metadata([shred(part) for part in parts], [len(part) for part in parts])
    assert read_back(columns, range(len(items))) == items
    kept = data.draw(st.lists(st.sampled_from(range(len(items))), unique=True)) if items else []
    taken = take_metadata(columns, np.array(kept, dtype=np.int64), len(items))
    assert read_back(taken, range(len(kept))) == [items[row] for row in kept]
    assert taken.keys() == {key for row in kept for key in items[row]}


def test_kinds_are_as_narrow_as_the_values() -> None:
    columns = shred([{"i": 3, "w": 70000, "f": 1.5, "s": "x", "b": True, "mixed": 1, "big": 2**80}] * 2)
    assert {key: (c.kind, c.values.dtype.name) for key, c in columns.items()} == {
        "i": ("int", "int8"),
        "w": ("int", "int32"),
        "f": ("float", "float64"),
        "s": ("str", "int8"),
        "b": ("json", "int8"),
        "mixed": ("int", "int8"),
        "big": ("json", "int8"),
    }
    assert shred([{"a": 1}, {"a": 2.5}])["a"].kind == "float"
    assert shred([{"a": 2**53 + 1}, {"a": 2.5}])["a"].kind == "json"


def test_arrays_become_columns() -> None:
    given = {
        "i": np.array([1, 2, 300]),
        "f": np.array([0.5, 1, 2], dtype=np.float32),
        "s": np.array(["b", "a", "b"]),
        "b": np.array([True, False, True]),
        "l": [[1], None, "x"],
    }
    assert read_back(shred_arrays(given, 3), [2, 1, 0]) == [
        {"i": 300, "f": 2.0, "s": "b", "b": True, "l": "x"},
        {"i": 2, "f": 1.0, "s": "a", "b": False, "l": None},
        {"i": 1, "f": 0.5, "s": "b", "b": True, "l": [1]},
    ]
    assert shred_arrays(given, 3)["s"].kind == "str"


def test_arrays_that_are_not_json_are_refused() -> None:
    with pytest.raises(InputError, match="not JSON"):
        shred_arrays({"a": np.array([1.0, np.nan])}, 2)
    with pytest.raises(InputError, match="shape"):
        shred_arrays({"a": np.zeros((2, 2))}, 2)
    with pytest.raises(InputError, match="column 'a' is not valid Unicode text"):
        shred_arrays({"a": np.array(["x", "\ud800"])}, 2)
