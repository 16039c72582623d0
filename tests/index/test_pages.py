"""`Index.page` walks through an index in id order; its pages together are `items`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinhash as kh
from kinhash.errors import InputError


@pytest.fixture(params=["int", "str"])
def index(request: pytest.FixtureRequest, tmp_path: Path, rng: np.random.Generator) -> Any:
    """Several segments whose ids interleave, rows in the log, and deleted items in both."""
    codes = kh.Codes.from_bits(rng.random((900, 16)) < 0.5)
    ids: list[Any] = (rng.permutation(900) * 2 - 500).tolist()
    if request.param == "str":
        ids = [f"é{number:x}/{number % 3}" for number in ids]
    with kh.Index.create(tmp_path / "a.kin", 16) as index:
        for start, stop in ((0, 300), (300, 560), (560, 890)):
            index.add(ids[start:stop], codes[start:stop], {"n": np.arange(start, stop)})
            if start == 0:
                index.compact()
        index.add(ids[890:], codes[890:])
        index.delete([*ids[3:200:7], ids[893]])
        yield index


@pytest.mark.parametrize("where", [None, "n < 400", "n in (3, 5, 700)", "not has n", "n < 0"])
@pytest.mark.parametrize("limit", [1, 7, 250, 10_000])
def test_pages_together_are_all_items(index: kh.Index, where: str | None, limit: int) -> None:
    ids, codes = index.items(where)
    found: list[Any] = []
    words: list[str] = []
    after = None
    for _ in range(1000):
        page = index.page(limit, after, where)
        names = page.ids if isinstance(page.ids, list) else page.ids.tolist()
        assert len(names) <= limit
        found += names
        words += page.codes.hex()
        if len(names) < limit:
            break
        after = names[-1]
    assert found == ids.tolist()
    assert words == codes.hex()
    if found:
        assert index.page(1, None, where).metadata == index.get(found[0]).metadata


def test_behind_an_id_that_is_not_there(index: kh.Index) -> None:
    ids = index.items()[0].tolist()
    before, beyond = (-(10**6), 10**6) if index.ids_kind == "int" else ("A", "ü")
    between = ids[10] + 1 if index.ids_kind == "int" else ids[10] + "0"
    assert list(index.page(2, before).ids) == ids[:2]
    assert list(index.page(2, between).ids) == ids[11:13]
    assert len(index.page(2, beyond)) == 0


def test_mistakes(index: kh.Index) -> None:
    for limit in (0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match="limit is a positive whole number"):
            index.page(limit)  # type: ignore[arg-type]
    wrong: list[Any] = ["a" if index.ids_kind == "int" else 3, [1, 2], ["a"]]
    for after in wrong:
        with pytest.raises(InputError, match="after is an id of the index"):
            index.page(3, after)


def test_an_empty_index(tmp_path: Path) -> None:
    with kh.Index.create(tmp_path / "b.kin", 16) as index:
        assert len(index.page(3)) == 0
        assert len(index.page(3, "a")) == 0
