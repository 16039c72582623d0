"""Filters block by block give what they give to all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from kinhash import Codes
from kinhash.index import filter_rows, scan_runs
from kinhash.index.filter_columns import passing
from kinhash.index.filter_rows import keys_of, passing_rows
from kinhash.index.filters import parse_filter
from kinhash.index.metadata import MetaColumn, shred
from kinhash.kernels import threads

FILTERS = [
    "n = 3", "n < 50", "not n < 50", "has rare", "rare > 2 or t = 'a'", "not has rare and n >= 90", "j contains 1",
    "absent = 1", "not absent = 1", "t in ('b', 'z')", "n > 5 and n < 7",
]  # fmt: skip


@pytest.mark.parametrize("block", [7, 64, 1000])
@pytest.mark.parametrize("jit", [True, False])
def test_equals_one_mask(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, block: int, jit: bool
) -> None:
    monkeypatch.setattr(filter_rows, "_BLOCK", block)
    monkeypatch.setattr(filter_rows, "compiled", lambda: jit)
    items = []
    for i in range(500):
        item = {"n": int(rng.integers(100)), "t": "abc"[rng.integers(3)], "j": [int(rng.integers(3))]}
        if rng.random() < 0.02 or 100 < i < 130:
            item["rare"] = int(rng.integers(5)) if rng.random() < 0.8 else None
        items.append(item)
    columns = shred(items)
    for text in FILTERS:
        where = parse_filter(text)
        wanted = passing(where, columns.get, 500)
        found = passing_rows(where, columns.get, 500)
        few = wanted.sum() * filter_rows.SPARSE <= 500
        if found.dtype == np.bool_:
            assert not few, text
            assert np.array_equal(found, wanted), text
        else:
            assert few, text
            assert np.array_equal(found, np.flatnonzero(wanted)), text
            assert found.dtype == np.int64


def test_no_rows() -> None:
    assert len(passing_rows(parse_filter("a = 1"), {}.get, 0)) == 0


def test_keys() -> None:
    assert keys_of(parse_filter("a = 1 and (has b or not a in (1, 2))")) == {"a", "b"}


@pytest.mark.parametrize("bits", [20, 64, 200])
def test_codes_copied_in_pieces(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """The copies of several threads lie where that of one would."""
    monkeypatch.setattr(scan_runs, "_PIECE", 100)
    words = Codes.from_bits(rng.integers(0, 2, (9000, bits))).words
    rows = np.sort(rng.choice(9000, 1500, replace=False))
    chunks = [(words[:4000], 0), (words[4000:4001], 4000), (words[4001:], 4001)]
    found = scan_runs.prepare(chunks, rows, 1, None, copy=True)
    assert np.array_equal(found.parts[0].words, words[rows])
    assert np.array_equal(found.positions, rows)
    monkeypatch.setattr(
        threads, "ThreadPoolExecutor", None
    )  # one thread copies by itself: no pool to wait for
    assert np.array_equal(scan_runs.prepare(chunks, rows, 1, 1, copy=True).parts[0].words, words[rows])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_ranges_of_whole_numbers(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, dtype: type[np.integer]
) -> None:
    """Every comparison at and beside every border, with values that the type does not hold too."""
    monkeypatch.setattr(filter_rows, "SPARSE", 0)
    monkeypatch.setattr(filter_rows, "_BLOCK", 5000)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    borders = [least, least + 1, -1, 0, 1, 7, most - 1, most]
    column = MetaColumn("int", rng.choice(np.array(borders, dtype=dtype), 9001))
    for value in [*borders, least - 1, most + 1, 0.5, -0.5, 6.999, 1e300, 2**70, "7"]:
        for operator in ("$eq", "$ne", "$lt", "$lte", "$gt", "$gte"):
            where = parse_filter({"k": {operator: value}})
            wanted = np.flatnonzero(passing(where, lambda _: column, 9001))
            assert np.array_equal(passing_rows(where, lambda _: column, 9001), wanted), (operator, value)


def test_ranges_of_texts(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_rows, "SPARSE", 0)
    items = [{"k": "bdf"[i]} for i in rng.integers(0, 3, 6000)]
    columns = shred(items)
    for value in ("a", "b", "c", "d", "f", "g", 3):
        for operator in ("$eq", "$ne", "$lt", "$lte", "$gt", "$gte"):
            where = parse_filter({"k": {operator: value}})
            wanted = np.flatnonzero(passing(where, columns.get, 6000))
            assert np.array_equal(passing_rows(where, columns.get, 6000), wanted), (operator, value)
