"""`kinhash dedup FOLDER`, and the page for an index (what it finds in an index is tested in test_index)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli.commands import done, refused, run
from duplicates.scenes import scene
from reading_pages import read_page

import kinhash as kh


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "photos"
    path.mkdir()
    for i in range(5):
        scene(i).save(path / f"{i}.png")
    scene(3).resize((100, 75)).save(path / "small.jpg")
    (path / "broken.png").write_bytes(b"\x89PNG")
    return path


def test_a_folder_of_pictures(folder: Path) -> None:
    result = run("dedup", folder, "--quiet")
    assert result.stdout == "3.png\tsmall.jpg\n"
    assert (
        "1 pair within 10 bits and with a likeness of 0.84 or more: 1 group of 2 pictures among 6"
        in result.stderr
    )
    assert "left out broken.png" in result.stderr
    card = json.loads(done("dedup", folder, "--quiet", "--json"))
    assert (card["pictures"], card["pairs"], card["groups"]) == (6, 1, [["3.png", "small.jpg"]])
    assert [one["id"] for one in card["broken"]] == ["broken.png"]
    [pair] = json.loads(done("dedup", folder, "--quiet", "--json", "--pairs"))["pairs"]
    assert pair[1:3] == ["3.png", "small.jpg"]
    assert pair[3] > 0.95
    assert done("dedup", folder, "--quiet", "--pairs") == f"{pair[0]}\t3.png\tsmall.jpg\n"
    assert done("dedup", folder, "--radius", 0, "--likeness", 0.9999) == ""


def test_the_page_of_a_folder(folder: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done("dedup", folder, "--quiet", "--html", tmp_path / "d.html")
    page = read_page(tmp_path / "d.html")
    assert len(page.pictures()) == 2
    assert "200 × 150" in page.text
    assert str(folder / "small.jpg") in page.text
    assert sorted(path.name for path in folder.iterdir()) == before


def test_names_that_are_no_text(folder: Path, tmp_path: Path) -> None:
    odd = folder / os.fsdecode(b"odd-\xff.png")
    try:
        scene(1).resize((90, 70)).save(odd)
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    lines = done("dedup", folder, "--quiet", "--html", tmp_path / "d.html").splitlines()
    assert "1.png\todd-\\udcff.png" in lines
    page = read_page(tmp_path / "d.html")
    assert "90 × 70" in page.text
    assert len(page.pictures()) == 4
    assert "odd-" not in "".join(page.pre)


def test_the_page_of_an_index(folder: Path, tmp_path: Path) -> None:
    codes = kh.Codes.from_hex(["0f", "0f", "f0"], 8)
    names = ["small.jpg", "3.png", "gone.png"]
    with kh.Index.create(tmp_path / "i.kin", bits=8) as index:
        index.add(names, codes, [{"path": str(folder / name)} for name in names])
    assert done("dedup", tmp_path / "i.kin", "--quiet", "--html", tmp_path / "d.html") == "3.png\tsmall.jpg\n"
    page = read_page(tmp_path / "d.html")
    assert [image.size for image in page.pictures()] == [(160, 120), (100, 75)]
    assert "1 pair within 0 bits" in page.text


def test_options_belong_to_one_of_both(folder: Path, tmp_path: Path) -> None:
    kh.Index.create(tmp_path / "i.kin", bits=8).close()
    assert run("dedup", folder, "--where", "x = 1").exit_code == 2
    assert run("dedup", tmp_path / "i.kin", "--likeness", 0.9).exit_code == 2
    assert "from 0 to 31" in refused("dedup", folder, "--radius", 40, "--quiet")
    (tmp_path / "empty").mkdir()
    assert "holds no pictures" in refused("dedup", tmp_path / "empty", "--quiet")
