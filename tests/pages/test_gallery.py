"""Galleries show what brute force finds, name it, colour it by meaning, and survive hostile names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading_pages import read_page

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.errors import InputError, NotFoundError
from kinhash.pages.montage import colour_of

HOSTILE = "<script>alert(1)</script>\"' onerror=x \u202e\0 猫"
CLASSES = ("cat", HOSTILE, "oak")


@pytest.fixture
def data(rng: np.random.Generator) -> Split:
    images = rng.integers(0, 256, (30, 24, 32, 3), dtype=np.uint8)
    ids = [f"{i}-{HOSTILE}" for i in range(30)]
    return Split(images, np.arange(30) % 3, CLASSES, ids, captions=[[HOSTILE, "second"]] * 30)


@pytest.fixture
def models(rng: np.random.Generator) -> dict[str, kh.Codes]:
    return {name: kh.Codes.from_bits(rng.random((30, 16)) < 0.5) for name in ("labels", "captions")}


def test_rows_hold_the_nearest_others(data: Split, models: dict[str, kh.Codes]) -> None:
    made = kh.gallery(models, data, queries=4, k=5, concat=True)
    assert [list(one.rows) for one in made.found] == [["labels", "captions", "labels + captions"]] * 4
    both = np.concatenate([codes.to_bits() for codes in models.values()], axis=1)
    for one in made.found:
        far = (both != both[one.query]).sum(axis=1)
        order = [int(i) for i in np.lexsort((np.arange(30), far)) if i != one.query][:5]
        assert [(hit.row, hit.distance) for hit in one.rows["labels + captions"]] == [
            (i, far[i]) for i in order
        ]


def test_the_page_is_whole_and_escapes_names(
    data: Split, models: dict[str, kh.Codes], tmp_path: Path
) -> None:
    kin = kh.semantics(np.array([[0, 0.25, 1], [0.25, 0, 1], [1, 1, 0]]), CLASSES)
    made = kh.gallery(models, data, tmp_path / "deep" / "g.html", queries=3, k=4, semantics=kin)
    page = read_page(tmp_path / "deep" / "g.html")
    pictures = page.pictures()
    assert len(pictures) == 3 * (1 + 2 * 4)
    assert {image.size for image in pictures} == {(32, 24)}
    shown = HOSTILE.replace("\u202e", "\ufffd").replace("\0", "\ufffd")
    assert f"{made.found[0].query}-{shown}" in page.text
    assert "matrix" in page.text
    assert "3 queries" not in page.text
    styles = [one["style"] for one in page.all("figure") if "style" in one]
    assert len(styles) == 24
    hits = [hit for one in made.found for hits in one.rows.values() for hit in hits]
    rgb = [tuple(map(int, re.findall(r"\d+", str(style)))) for style in styles]
    assert rgb == [colour_of(hit.similarity) for hit in hits]
    assert {hit.similarity for hit in hits} <= {1.0, 0.75, 0.0}
    alts = [str(image["alt"]) for image in page.all("img")]
    assert alts[0].startswith("query: ")
    assert f"result 1, {hits[0].distance} bits away: " in alts[1]


def test_the_same_rows_as_a_picture(data: Split, models: dict[str, kh.Codes], tmp_path: Path) -> None:
    kh.gallery(models, data, tmp_path / "g.png", queries=2, k=3)
    kh.gallery({"a": models["labels"]}, data, tmp_path / "one.png", queries=2, k=3)
    with Image.open(tmp_path / "g.png") as sheet, Image.open(tmp_path / "one.png") as one:
        assert sheet.height > 1.8 * one.height  # a row for each model


def test_queries_by_seed_and_by_id(data: Split, models: dict[str, kh.Codes]) -> None:
    drawn = [[one.query for one in kh.gallery(models, data, seed=s).found] for s in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    named = kh.gallery(models, data, queries=[data.ids[7], data.ids[2]])
    assert [one.query for one in named.found] == [7, 2]
    assert "were named" in named.describe()
    with pytest.raises(NotFoundError, match="no picture 'x'"):
        kh.gallery(models, data, queries=["x"])


def test_target_vectors_colour_by_their_cosine(data: Split, models: dict[str, kh.Codes]) -> None:
    angle = np.linspace(0, np.pi, 30)
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    made = kh.gallery(models, data, queries=2, target_vectors=vectors)
    for one in made.found:
        for hit in one.rows["labels"]:
            assert hit.similarity == pytest.approx(max(0.0, np.cos(angle[one.query] - angle[hit.row])))


def test_a_broken_picture_leaves_a_hole_not_an_error(tmp_path: Path, rng: np.random.Generator) -> None:
    paths = []
    for i in range(4):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(paths[-1])
    paths[2].write_bytes(b"broken")
    data = Split(images=list(paths), ids=list("abcd"))
    codes = {"m": kh.Codes.from_bits(rng.random((4, 8)) < 0.5)}
    made = kh.gallery(codes, data, tmp_path / "g.html", queries=["a"], k=3)
    made.save(tmp_path / "g.png")
    page = read_page(tmp_path / "g.html")
    assert len(page.pictures()) == 3
    assert "cannot be read" in page.text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"k": 30}, "k is a whole number from 1 to 29"),
        ({"queries": 31}, "queries is 1 to 30"),
        ({"queries": []}, "at least one query"),
        ({"models": {}}, "at least one model"),
        ({"target_vectors": np.ones((3, 2))}, "3 target vectors for 30 pictures"),
        ({"semantics": kh.semantics("labels", CLASSES), "target_vectors": np.ones((30, 2))}, "leave one out"),
        ({"out": "g.pdf"}, r"\.html or \.png"),
    ],
)
def test_what_cannot_be_shown(
    data: Split, models: dict[str, kh.Codes], changes: dict[str, Any], says: str
) -> None:
    given = {"models": models, "data": data, **changes}
    with pytest.raises(InputError, match=says):
        kh.gallery(**given)


def test_models_and_data_must_fit(data: Split, models: dict[str, kh.Codes]) -> None:
    with pytest.raises(InputError, match="'labels' has 29 codes for 30 pictures"):
        kh.gallery({"labels": models["labels"][:29]}, data)
    with pytest.raises(InputError, match="at least two models"):
        kh.gallery({"labels": models["labels"]}, data, concat=True)
    with pytest.raises(InputError, match="shows pictures"):
        kh.gallery(models, Split(vectors=np.ones((30, 2), np.float32)))
    with pytest.raises(InputError, match="these have none"):
        kh.gallery(models, Split(data.images), semantics=kh.semantics("labels", CLASSES))
