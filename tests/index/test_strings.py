"""Strings in columns behave as Python's lists of str do."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kinhash.index.storage import ArrayColumn
from kinhash.index.strings import StoredStrings, Strings

TEXTS = st.lists(st.text(st.sampled_from("ab\x00é😀"), max_size=20), max_size=30)


@given(TEXTS)
def test_order_is_pythons(texts: list[str]) -> None:
    order = Strings.from_list(texts).order()
    assert order.tolist() == sorted(range(len(texts)), key=texts.__getitem__)


def test_long_common_prefixes() -> None:
    rng = np.random.default_rng(0)
    texts = [f"https://example.org/photos/{n:07d}.jpg" for n in rng.permutation(5000)]
    strings = Strings.from_list(texts)
    assert strings.take(strings.order()).to_list() == sorted(texts)


@given(TEXTS, TEXTS)
def test_concat_take_and_stored(a: list[str], b: list[str]) -> None:
    both = Strings.concat([Strings.from_list(a), Strings.from_list(b)])
    assert both.to_list() == a + b
    rows = np.arange(len(both))[::-2]
    assert both.take(rows).to_list() == (a + b)[::-2]
    columns = {name: ArrayColumn(column) for name, column in both.columns("x").items()}
    stored = StoredStrings(columns, "x")
    assert stored.take(rows) == (a + b)[::-2]
    assert stored.all().to_list() == a + b


def test_bisect_works_on_sorted_strings() -> None:
    strings = Strings.from_list(["a", "b", "bb", "é"])
    assert [bisect_left(strings, text.encode()) for text in ("", "b", "ba", "é", "z")] == [0, 1, 2, 3, 3]
