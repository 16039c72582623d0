"""Every command and every example of docs/gallery.md, report.md and dedup.md runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pages
import pytest
from cli.commands import done
from duplicates.scenes import scene
from reading_pages import read_page
from vector_files import write_vectors

import kinhash as kh
from kinhash.items import CodedItems

CLASSES = ("a", "b", "c")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_page(name: str) -> None:
    """The commands, then the Python."""
    text = pages.page(name)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in joined(block)]
    assert lines
    for line in lines:
        command, *arguments = shlex.split(line)
        assert command == "kinhash"
        quiet = ["--quiet"] if arguments[0] in ("dedup", "encode", "report") else []
        done(*arguments, *quiet)
    for block in pages.blocks(name):
        exec(compile(block, f"docs/{name}.md", "exec"), {})


def joined(block: str) -> list[str]:
    return block.replace("\\\n", " ").strip().splitlines()


def photos(folder: Path) -> list[str]:
    names = [f"{kind}/{i}.png" for kind in ("cat", "dog") for i in range(6)]
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        scene(number).save(folder / name)
    scene(0).resize((80, 60)).save(folder / "cat" / "small.jpg")
    return [*names, "cat/small.jpg"]


def index_of(names: list[str], rng: np.random.Generator) -> None:
    codes = kh.Codes.from_bits(rng.random((len(names), 16)) < 0.5)
    with kh.Index.create("photos.kin", bits=16) as index:
        index.add(names, codes, [{"path": f"photos/{name}"} for name in names])


def test_dedup(place: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]) -> None:
    index_of(photos(place / "photos"), rng)
    run_page("dedup")
    assert capsys.readouterr().out == "keep photos/cat/0.png of ['cat/0.png', 'cat/small.jpg']\n"
    assert len(read_page(place / "duplicates.html").pictures()) == 2
    read_page(place / "near.html")


def test_gallery(place: Path, rng: np.random.Generator) -> None:
    index_of(photos(place / "photos"), rng)
    test = kh.dataset("cifar100-sample").test
    for name in ("plain", "entropy"):
        CodedItems(kh.Codes.from_bits(rng.random((len(test), 64)) < 0.5), test.ids).save(
            place / "codes" / name
        )
    run_page("gallery")
    assert len(read_page(place / "gallery.html").pictures()) == 3 * (1 + 3 * 8)
    assert len(read_page(place / "cat.html").pictures()) == 5
    for name in ("photos.html", "hyperplanes.html"):
        assert read_page(place / name).pictures()


def test_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_vectors(place / "vectors", CLASSES, train=90, test=45, width=12)
    data = kh.dataset("vectors")
    kin = kh.semantics("labels", data.classes)
    kh.train(data.train, semantics=kin, bits=8, epochs=2, out="runs/vectors", progress=False, device="cpu")
    run_page("report")
    page = read_page(place / "runs" / "vectors" / "report.html")
    assert "Cost of searching" in page.text
    assert "runs/vectors/report.html" in capsys.readouterr().out
    assert "What is missing" in read_page(place / "alone.html").text
