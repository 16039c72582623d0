"""A file is replaced whole, or stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinhash.files import replace_file, replacing


def test_it_writes_and_overwrites(tmp_path: Path) -> None:
    for data in (b"old", b"new and longer", memoryview(b"")):
        replace_file(tmp_path / "a", data)
        assert (tmp_path / "a").read_bytes() == bytes(data)
    assert os.listdir(tmp_path) == ["a"]


def test_the_old_file_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_file(tmp_path / "a", b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_error_while_writing_changes_nothing(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"old")

    def interrupted() -> None:
        with replacing(tmp_path / "a") as new:
            new.write_bytes(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]
