"""A file is replaced whole, or stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinhash.files import replace_file


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
