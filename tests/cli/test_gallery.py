"""`kinhash gallery`: codes, indexes and encoders beside each other, brought together by ids."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.commands import done, refused, run
from PIL import Image
from reading_pages import read_page

import kinhash as kh
from kinhash.items import CodedItems


@pytest.fixture
def photos(tmp_path: Path, rng: np.random.Generator) -> Path:
    for kind in ("cat", "dog"):
        (tmp_path / "photos" / kind).mkdir(parents=True)
        for i in range(6):
            picture = Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8))
            picture.save(tmp_path / "photos" / kind / f"{i}.png")
    return tmp_path / "photos"


def names(photos: Path) -> list[str]:
    return sorted(path.relative_to(photos).as_posix() for path in photos.rglob("*.png"))


@pytest.fixture
def codes(tmp_path: Path, photos: Path, rng: np.random.Generator) -> Path:
    ids = names(photos)
    made = kh.Codes.from_bits(rng.random((len(ids), 16)) < 0.5)
    CodedItems(made, ids, [name.split("/")[0] for name in ids]).save(tmp_path / "codes")
    return tmp_path / "codes"


@pytest.fixture
def index(tmp_path: Path, photos: Path, rng: np.random.Generator) -> Path:
    """An index of all photos but one, which knows where they lie."""
    ids = names(photos)[1:]
    with kh.Index.create(tmp_path / "photos.kin", bits=8) as made:
        metadata = [{"path": str(photos / name)} for name in ids]
        made.add(ids, kh.Codes.from_bits(rng.random((len(ids), 8)) < 0.5), metadata)
    return tmp_path / "photos.kin"


def test_models_side_by_side(tmp_path: Path, photos: Path, codes: Path, index: Path) -> None:
    out = tmp_path / "g.html"
    result = run(
        "gallery", f"first={codes}", index, "--pictures", photos, "--out", out, "--out", tmp_path / "g.png",
        "--queries", 2, "-k", 3, "--concat", "--semantics", "labels",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert f"{out}: 6 rows for 2 pictures" in result.stdout
    assert "1 of 12 pictures lack a code: left out" in result.stderr
    page = read_page(out)
    assert len(page.pictures()) == 2 * (1 + 3 * 3)
    for words in ("first: 16 bits; photos.kin: 8 bits; first + photos.kin: 24 bits", "by labels", "cat"):
        assert words in page.text
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_an_index_knows_where_its_pictures_lie(tmp_path: Path, photos: Path, index: Path) -> None:
    wanted = names(photos)[3]
    card = json.loads(
        done(
            "gallery",
            index,
            "--out",
            tmp_path / "g.html",
            "--id",
            wanted,
            "-k",
            2,
            "--title",
            "<T>",
            "--json",
        )
    )
    assert [one["query"] for one in card["queries"]] == [wanted]
    with kh.Index.open(index) as opened:
        ids, far = opened.search(opened.get([wanted]).codes, 3)[0]
    others = [(i, d) for i, d in zip(ids.tolist(), far.tolist(), strict=True) if i != wanted][:2]
    found = card["queries"][0]["found"]["photos.kin"]
    assert [(hit["id"], hit["distance"]) for hit in found] == others
    page = read_page(tmp_path / "g.html")
    assert "<T>" in page.text
    assert wanted in page.text


def test_what_is_missing_is_said(tmp_path: Path, photos: Path, codes: Path, index: Path) -> None:
    out = ["--out", tmp_path / "g.html"]
    assert "--pictures FOLDER" in refused("gallery", codes, *out)
    assert "neither codes nor an index" in refused("gallery", photos, "--pictures", photos, *out)
    assert "two models are called 'codes'" in refused("gallery", codes, codes, "--pictures", photos, *out)
    assert "no picture has a code of every model" in refused(
        "gallery", codes, "--pictures", photos / "cat", *out
    )
    assert run("gallery", codes, "--part", "all", *out).exit_code == 2
    assert run("gallery", codes, "--data", photos, "--pictures", photos, *out).exit_code == 2
    vectors = tmp_path / "v.npy"
    np.save(vectors, np.ones((3, 2)))
    said = refused("gallery", codes, "--pictures", photos, "--target-vectors", vectors, *out)
    assert "3 rows for 12 pictures" in said


def test_a_data_set_brings_labels(tmp_path: Path, photos: Path, codes: Path) -> None:
    done(
        "gallery",
        codes,
        "--data",
        photos,
        "--out",
        tmp_path / "g.html",
        "--queries",
        1,
        "--semantics",
        "labels",
    )
    assert "by labels" in read_page(tmp_path / "g.html").text
