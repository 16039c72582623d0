"""Ids: what is accepted, and that a segment finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinhash.errors import InputError
from kinhash.index import ids as ids_module
from kinhash.index.ids import SegmentIds, check_distinct, checked_ids, id_columns, keys_of
from kinhash.index.storage import ArrayColumn
from kinhash.index.strings import Strings


def segment_ids(names: Any) -> SegmentIds:
    if isinstance(names, list):
        attributes, columns = id_columns(Strings.from_list(names), keys_of(names))
    else:
        attributes, columns = id_columns(names, None)
    return SegmentIds(attributes, len(names), {name: ArrayColumn(c) for name, c in columns.items()})


@pytest.mark.parametrize(
    "given",
    [
        5,
        [5],
        (5,),
        range(5, 6),
        np.array([5], dtype=np.uint8),
        np.array(["a"]),
        "a",
        iter(["a"]),
        [np.str_("a")],
    ],
)
def test_accepted(given: Any) -> None:
    found = checked_ids(given)
    assert (found if isinstance(found, list) else found.tolist()) in ([5], ["a"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True], "boolean"),
        (["a", 1], "all strings or all integers"),
        ([1.5], "all strings or all integers, got float"),
        (["a", ""], "number 1 is an empty string"),
        ([2**63], "64 signed bits"),
        (np.array([2**63], dtype=np.uint64), "64 signed bits"),
        (np.zeros((2, 2), dtype=int), "shape"),
        ({"a": 1}, "got dict"),
        (None, "got NoneType"),
        (["\ud800"], "not valid Unicode"),
    ],
)
def test_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_ids(given)


@pytest.mark.parametrize("given", [["a", "b", "a"], np.array([3, 1, 3])])
def test_repeats_are_named(given: Any) -> None:
    with pytest.raises(InputError, match=r"('a'|3) occurs twice"):
        check_distinct(given)


@pytest.mark.parametrize(
    "names",
    [
        np.arange(-5, 20),
        np.array([-(2**63), 0, 7, 2**63 - 1]),
        np.array([4]),
        ["a"],
        sorted({f"photo-{n * n}" for n in range(200)}),
    ],
)
def test_find_take_and_all(names: Any) -> None:
    stored = segment_ids(names)
    everything = list(names) if isinstance(names, list) else names.tolist()
    missing = ["zz", "photo-3"] if isinstance(names, list) else [100, 2**62, -(2**62)]
    wanted = checked_ids([*missing, *everything[::-1]])
    rows = stored.find(wanted)
    assert rows.tolist() == [-1] * len(missing) + list(range(len(everything)))[::-1]
    assert list(stored.take(np.arange(len(everything)))) == everything
    found = stored.all()
    assert (found.to_list() if isinstance(found, Strings) else found.tolist()) == everything
    other = checked_ids([1]) if isinstance(names, list) else checked_ids(["1"])
    assert stored.find(other).tolist() == [-1]


def test_strings_whose_keys_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def bad_keys(names: Any) -> Any:
        return np.array([len(name) for name in names], dtype=np.uint32)

    monkeypatch.setattr(ids_module, "keys_of", bad_keys)
    names = ["a", "b", "c", "cc", "d"]
    attributes, columns = id_columns(Strings.from_list(names), bad_keys(names))
    stored = SegmentIds(attributes, 5, {name: ArrayColumn(c) for name, c in columns.items()})
    assert stored.find(["d", "e", "a", "cc", "ee"]).tolist() == [4, -1, 0, 3, -1]


def test_consecutive_integers_need_no_column() -> None:
    assert id_columns(np.arange(10, 1000), None) == ({"ids": "int", "first_id": 10}, {})
