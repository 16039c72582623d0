"""Conceptual Captions: urls find the pictures on this machine by their last part."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.pairs import picture, write_folder, write_tar

import kinhash as kh
from kinhash.data.images import pixels
from kinhash.data.pairing import UnpairedWarning
from kinhash.errors import FormatError, NotFoundError

LINES = [
    ("a dog", "http://x.org/deep/one.png?size=2"),
    ('the "same" dog', "http://x.org/deep/one.png?size=2"),
    ("a cat", "https://y.org/two%20cats.jpg"),
]


def write(path: Path, lines: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{caption}\t{url}\n" for caption, url in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["folder", "tar", "beside"])
def test_pictures_by_the_last_part_of_their_url(tmp_path: Path, kind: str) -> None:
    files = {"one.png": picture(1), "two cats.jpg": picture(2)}
    path = write(tmp_path / "list.tsv", LINES)
    if kind == "beside":
        write_folder(tmp_path, files)
        data = kh.dataset(path)
    else:
        images = (
            write_tar(tmp_path / "p.tar", files) if kind == "tar" else write_folder(tmp_path / "p", files)
        )
        data = kh.dataset("conceptual-captions", path, images=images)
    assert data.train.captions == [["a dog", 'the "same" dog'], ["a cat"]]
    assert [int(pixels(image)[0, 0, 0]) for image in data.train.images or []] == [1, 2]
    assert data.train.ids[1] == "https://y.org/two%20cats.jpg"


def test_what_is_single_or_doubtful_is_listed(tmp_path: Path) -> None:
    lines = [
        *LINES,
        ("other", "http://z.org/two%20cats.jpg"),
        ("", "http://z.org/three.png"),
        ("gone", "http://z.org/gone.png"),
        ("no name", "http://z.org/"),
        ("no url", ""),
        ("too long", f"http://z.org/{'x' * 5000}.png"),
    ]
    images = write_folder(
        tmp_path / "p",
        {"one.png": picture(1), "two cats.jpg": picture(2), "three.png": picture(3), "four.png": picture(4)},
    )
    with pytest.warns(UnpairedWarning, match="two urls end in the same name, the first one: https://y"):
        data = kh.dataset("conceptual-captions", write(tmp_path / "list.tsv", lines), images=images)
    assert len(data.train) == 1
    assert len(data.train.broken) == 8
    assert str(images / "four.png") in {broken.id for broken in data.train.broken}


def test_a_folder_of_both_parts(tmp_path: Path) -> None:
    write(tmp_path / "Train_GCC-training.tsv", LINES[:2])
    write(tmp_path / "Validation_GCC-1.1.0-Validation.tsv", LINES[2:])
    write_folder(tmp_path, {"one.png": picture(1), "two cats.jpg": picture(2)})
    data = kh.dataset("conceptual-captions", tmp_path)
    assert (len(data.train), len(data.test)) == (1, 1)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("a dog\thttp://x.org/a.png\nno url\n")
    with pytest.raises(FormatError, match=r"list\.tsv, line 2: a caption, a tab and a url"):
        kh.dataset(path)
    path.write_bytes(b"\xff\xfe\thttp://x\n")
    with pytest.raises(FormatError, match="cannot be read as tsv"):
        kh.dataset("conceptual-captions", path)
    with pytest.raises(NotFoundError, match="no tsv of captions"):
        kh.dataset("conceptual-captions", tmp_path / "gone.tsv")
