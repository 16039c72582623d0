"""`kinhash report`: a trained run, with its data, with semantics by name, and without anything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.commands import done, refused, run
from reading_pages import read_page
from vector_files import write_vectors

NAMES = ("cat.n.01", "dog.n.01", "car.n.01")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vectors(tmp_path_factory.mktemp("vectors"), NAMES, train=90, test=45, width=12)


@pytest.fixture(scope="module")
def trained(vectors: Path) -> Path:
    out = vectors.parent / "run"
    quick = ("--epochs", 2, "--bits", 8, "--device", "cpu", "--quiet", "--set", "hidden=16")
    done("train", vectors, "--out", out, *quick)
    return out


def test_a_run_with_its_data(trained: Path, vectors: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    result = run("report", trained, "--data", vectors, "--out", out, "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{out}: ")
    assert "12 files in" in result.stdout
    assert "not shown: Best and worst queries as pictures" in result.stderr
    page = read_page(out)
    assert "wordnet wup symmetric" in page.text
    assert len(list((tmp_path / "figures").iterdir())) == 12


def test_semantics_by_name_and_json(trained: Path, vectors: Path, tmp_path: Path) -> None:
    spec = ("--semantics", "lcs=wordnet", "--semantics", "same=labels")
    card = json.loads(
        done("report", trained, "--data", vectors, *spec, "--out", tmp_path / "p.html", "--quiet", "--json")
    )
    assert card["page"] == str(tmp_path / "p.html")
    assert {"mahp_lcs", "mahp_same"} <= card["metrics"].keys()
    assert {Path(path).name for path in card["figures"]} >= {"hp-lcs.svg", "mistakes-same.png"}


def test_a_run_alone(trained: Path, tmp_path: Path) -> None:
    result = run("report", trained, "--out", tmp_path / "p.html")
    assert result.exit_code == 0
    assert "How good the codes are: give the data set (--data)" in result.stderr
    assert "Metrics at the end of the training" in read_page(tmp_path / "p.html").text


def test_what_is_wrong_is_said(trained: Path, vectors: Path, tmp_path: Path) -> None:
    assert run("report", trained, "--part", "test").exit_code == 2
    assert "holds no run" in refused("report", tmp_path)
    two = ("--semantics", "labels", "--semantics", "wordnet")
    assert "called 'sim'" in refused("report", trained, "--data", vectors, *two)
    photos = tmp_path / "photos"
    photos.mkdir()
    np.save(photos / "v.npy", np.ones((4, 3), np.float32))
    assert "is empty" in refused("report", trained, "--data", photos / "v.npy")
