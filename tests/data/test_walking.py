"""Folders of any shape: loops, links, pipes, locked folders, names of any bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinhash.data.anything import as_split
from kinhash.data.images import BrokenPictureWarning
from kinhash.data.walking import path_of, pictures_below, text_of, walk


def touched(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    return root


def paths(root: Path) -> list[str]:
    return [file.path for file in walk(root).files]


def test_pictures_of_a_folder_come_before_those_of_folders_in_it(tmp_path: Path) -> None:
    names = ["b.jpg", "a/z.PNG", "a-1/c.webp", "a/sub/y.gif", "z.tiff"]
    touched(tmp_path, *names, "notes.txt", ".hidden.jpg", ".git/x.jpg")
    assert paths(tmp_path) == ["b.jpg", "z.tiff", "a/z.PNG", "a/sub/y.gif", "a-1/c.webp"]
    assert pictures_below(tmp_path) == [tmp_path / name for name in paths(tmp_path)]
    found = walk(tmp_path).files[0]
    assert (found.size, found.modified) == (1, (tmp_path / "b.jpg").stat().st_mtime_ns)


def test_other_suffixes_and_no_more_folders_than_needed(tmp_path: Path) -> None:
    touched(tmp_path, "a.jpg", "b.txt", "below/c.txt", "deep/er/d.txt")
    found = walk(tmp_path, {".txt"})
    assert [file.path for file in found.files] == ["b.txt", "below/c.txt", "deep/er/d.txt"]
    assert [file.path for file in walk(tmp_path, {".txt"}, 1).files] == ["b.txt"]
    assert [file.path for file in walk(tmp_path, {".txt"}, 2).files] == ["b.txt", "below/c.txt"]


def test_links_in_a_loop_end_and_every_folder_counts_once(tmp_path: Path) -> None:
    touched(tmp_path, "z/real.jpg", "z/deep/er.jpg")
    (tmp_path / "z" / "loop").symlink_to(tmp_path)
    (tmp_path / "z" / "deep" / "up").symlink_to("..")
    (tmp_path / "a").symlink_to("z")  # comes first in the alphabet, and is not the true place
    (tmp_path / "self").symlink_to("self")
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["z/real.jpg", "z/deep/er.jpg"]
    assert [passed.path for passed in found.passed_over] in ([], ["self"])


def test_links_out_of_the_folder_are_followed(tmp_path: Path) -> None:
    touched(tmp_path, "elsewhere/1.jpg", "other.jpg")
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "album" / "one.jpg").symlink_to(tmp_path / "other.jpg")
    (tmp_path / "album" / "gone.jpg").symlink_to(tmp_path / "nothing")
    found = walk(tmp_path / "album")
    assert [file.path for file in found.files] == ["one.jpg", "linked/1.jpg"]
    assert [(p.path, p.reason) for p in found.passed_over] == [("gone.jpg", "a link that points nowhere")]


def test_pipes_are_not_waited_for_and_formats_that_are_not_read_are_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    touched(tmp_path, "IMG_1.HEIC", "raw.cr2", "video.mp4")
    reasons = {passed.path: passed.reason for passed in walk(tmp_path).passed_over}
    assert set(reasons) == {"pipe.jpg", "IMG_1.HEIC", "raw.cr2"}
    assert "device or a pipe" in reasons["pipe.jpg"]
    assert reasons["IMG_1.HEIC"] == "pictures in the format .heic are not read; convert it to jpg or png"


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched(tmp_path, "open/1.jpg", "locked/2.jpg")
    real: Callable[..., Any] = os.scandir

    def scandir(path: Any) -> Any:  # root may look everywhere, so the tests must say no themselves
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["open/1.jpg"]
    (passed,) = found.passed_over
    assert (passed.path, passed.folder) == ("locked", True)
    assert passed.reason == "you have no permission to read this folder"
    assert as_split(tmp_path).broken[0].id == "locked"
    with pytest.warns(BrokenPictureWarning, match=r"locked \(you have no permission to read this folder\)"):
        assert pictures_below(tmp_path) == [tmp_path / "open" / "1.jpg"]


@pytest.mark.skipif(sys.platform == "darwin", reason="this file system takes no such names")
def test_names_of_any_bytes_become_text_and_back(tmp_path: Path) -> None:
    for name in (b"caf\xe9.jpg", "naïve 写真 🐈.jpg".encode(), b"new\nline.jpg", b"\xff\xfe.jpg"):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"x")
    found = paths(tmp_path)
    assert len(found) == 4
    texts = [text_of(path) for path in found]
    assert "caf\\udce9.jpg" in texts
    assert [path_of(text) for text in texts] == found
    for path in found:
        assert (tmp_path / path).is_file()
    split = as_split(tmp_path)
    assert split.ids == texts
    "".join(split.ids).encode()  # what is stored as UTF-8
