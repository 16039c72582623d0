"""A folder's groups: chains of alike pictures, the best one first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from duplicates.scenes import scene

import kinhash as kh
from kinhash.duplicates.facts import Facts, best_first, facts_of
from kinhash.duplicates.folder import spared
from kinhash.errors import InputError, NotFoundError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(6):
        scene(i).save(tmp_path / f"{i}.png")
    scene(2).resize((100, 75)).save(tmp_path / "small.jpg")
    scene(2).save(tmp_path / "same.png")
    os.utime(tmp_path / "same.png", (1e9, 1e9))  # older than 2.png, as large
    (tmp_path / "broken.png").write_bytes(b"\x89PNG")
    return tmp_path


def test_groups_begin_with_the_one_to_keep(folder: Path) -> None:
    found = kh.duplicate_pictures(folder)
    assert [[facts.name for facts in group] for group in found.groups] == [["same.png", "2.png", "small.jpg"]]
    assert [one.id for one in found.broken] == ["broken.png"]
    assert len(found.names) == 8
    first, _, small = found.groups[0]
    assert (first.width, first.height, small.width) == (200, 150, 100)
    assert str(first).startswith("200 × 150, ")
    assert str(first).endswith(", 2001-09-09")
    assert spared(found.groups) == sum((folder / name).stat().st_size for name in ("2.png", "small.jpg"))
    [strict] = kh.duplicate_pictures(folder, likeness=0.9999, radius=0).groups
    assert [facts.name for facts in strict] == ["same.png", "2.png"]


def test_what_is_kept() -> None:
    def facts(name: str, width: int, modified: int, count: int = 1) -> Facts:
        return Facts(Path(name), name, count, width, 10, modified)

    group = [
        facts("c", 5, 1),
        facts("b", 9, 7),
        facts("a", 9, 3, 1),
        facts("d", 9, 3, 8),
        Facts(Path("x"), "x"),
    ]
    assert [one.name for one in best_first(group)] == ["d", "a", "b", "c", "x"]


def test_a_file_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    assert str(facts_of(tmp_path / "gone.png", "gone.png")) == "not found"


def test_folders_without_pictures(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no folder"):
        kh.duplicate_pictures(tmp_path / "absent")
    with pytest.raises(InputError, match="no pictures"):
        kh.duplicate_pictures(tmp_path)
