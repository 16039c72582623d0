"""Codes with ids and labels in a folder: what is saved comes back, what is damaged is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinhash.codes import Codes
from kinhash.errors import FormatError, StorageError
from kinhash.items import CodedItems

FLOATS = np.random.default_rng(0).normal(size=(3, 20)).astype(np.float32)
CODES = Codes.from_logits(FLOATS)
IDS = ["a", "b, c", "d\ne"]


def test_round_trip(tmp_path: Path) -> None:
    CodedItems(CODES, IDS, ["x", "y", "x"], FLOATS).save(tmp_path / "all")
    found = CodedItems.load(str(tmp_path / "all"))
    assert (found.codes, found.ids, found.labels, found.floats) == (CODES, IDS, ["x", "y", "x"], None)
    np.testing.assert_array_equal(np.load(tmp_path / "all" / "floats.npy"), FLOATS)
    CodedItems(CODES, IDS).save(tmp_path / "ids")
    assert CodedItems.load(tmp_path / "ids").labels is None
    CODES.save(tmp_path / "codes")
    assert CodedItems.load(tmp_path / "codes").ids == ["0", "1", "2"]


def test_what_is_refused(tmp_path: Path) -> None:
    CodedItems(CODES, IDS).save(tmp_path)
    for text, says in (("id\na\n", "lists 1 items with ids, but there are 3 codes"), ('id\n"a', "as csv")):
        (tmp_path / "items.csv").write_text(text)
        with pytest.raises(FormatError, match=says):
            CodedItems.load(tmp_path)
    (tmp_path / "items.csv").unlink()
    (tmp_path / "items.csv").mkdir()
    with pytest.raises(StorageError, match=r"cannot write the list of items"):
        CodedItems(CODES, IDS).save(tmp_path)
