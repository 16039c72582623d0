"""The demo empties only what is its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinhash.demo.folder import MARK, PARTS, fresh_folder
from kinhash.errors import InputError, StorageError


def test_an_earlier_output_is_replaced_and_what_else_lies_there_stays(tmp_path: Path) -> None:
    out = fresh_folder(tmp_path / "deep" / "out")
    (out / "codes").mkdir()
    (out / "codes" / "old").touch()
    (out / "searches.png").touch()
    (out / "mine.txt").touch()
    assert fresh_folder(out) == out
    assert sorted(path.name for path in out.iterdir()) == [MARK, "mine.txt"]


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    out = fresh_folder(tmp_path / "out")
    (out / PARTS[0]).symlink_to(precious)
    fresh_folder(out)
    assert precious.is_dir()
    assert not (out / PARTS[0]).exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    (tmp_path / "codes").mkdir()
    with pytest.raises(InputError, match=r"not the output of an earlier demo.*--out"):
        fresh_folder(tmp_path)
    with pytest.raises(InputError, match=r"letter\.txt exists and is not"):
        fresh_folder(tmp_path / "letter.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes", "letter.txt"]


def test_a_place_that_cannot_be_made_is_an_error_of_storage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write the demo's output"):
        fresh_folder(tmp_path / "file" / "out")
