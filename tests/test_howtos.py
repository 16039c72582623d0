"""The tutorial and the pages for the three kinds of users run from top to bottom, on little data."""

from __future__ import annotations

from pathlib import Path

import pytest
from duplicates.scenes import scene
from few_pictures import make_small
from pages import check_examples, run_in_order
from vector_files import write_vectors

import kinhash as kh

NAMES = ("apple", "pear", "rocket", "otter")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tutorial(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    make_small(monkeypatch)
    names = run_in_order("tutorial")
    assert names["hits"].distances[0, 0] == 0  # type: ignore[attr-defined]
    assert (place / "gallery.html").is_file()
    assert "mAHP@250" in capsys.readouterr().out


def test_photos(place: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the extra weights-lite")
    for i in range(8):
        for number, kind in enumerate(("cat", "dog")):
            (place / "Pictures" / kind).mkdir(parents=True, exist_ok=True)
            scene(2 * i + number).save(place / "Pictures" / kind / f"{i}.png")
    run_in_order("howto-photos")
    assert len(kh.Index.open(place / "own.kin")) == 16


def test_embeddings(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_vectors(place / "vectors", NAMES, train=96, test=48, width=24, spread=0.25)
    names = run_in_order("howto-embeddings")
    assert len(names["codes"]) == 96  # type: ignore[arg-type]
    assert capsys.readouterr().out.count("of the 10 nearest") == 3


def test_research(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_vectors(place / "vectors", NAMES, train=96, test=48, width=24, spread=0.25)
    run_in_order("howto-research")
    assert "orthohash" in capsys.readouterr().out
    assert (place / "runs" / "one" / "report.html").is_file()


def test_sharing() -> None:
    check_examples("sharing", more_than=4)
