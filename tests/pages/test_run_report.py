"""A report shows what a run holds, says what is missing, and needs nothing else."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reading_pages import read_page

import kinhash as kh
from kinhash.data.splits import Split
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.items import CodedItems
from kinhash.pages.run_report import RunReport

HOSTILE = "<script>alert('x')</script>"
CLASSES = ("a", HOSTILE, "c")
FIGURES = {"training", "hp-sim", "mistakes-sim", "distances", "bits", "search-cost"}
KIN = kh.semantics(np.array([[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]), CLASSES)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a training without its encoder."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({"bits": 16, "lr": 0.1, "classes": CLASSES, "note": HOSTILE})
    )
    lines = [{"epoch": i, "lr": 0.1, "losses": {"sim": 1 / i}, "seconds": i} for i in (1, 2, 3)]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "metrics.json").write_text(json.dumps({"epochs": 3, "seconds": {"train": 3.5}}))
    return folder


@pytest.fixture
def data(rng: np.random.Generator) -> Split:
    images = rng.integers(0, 256, (60, 8, 8, 3), dtype=np.uint8)
    return Split(images, np.arange(60) % 3, CLASSES, [f"{i}-{HOSTILE}" for i in range(60)])


@pytest.fixture
def outputs(tmp_path: Path, data: Split, rng: np.random.Generator) -> Path:
    labels = data.targets()
    z = rng.normal(size=(3, 16))[labels] + rng.normal(size=(60, 16))
    guesses = np.where(rng.random(60) < 0.3, (labels + 1) % 3, labels)
    np.savez(tmp_path / "outputs.npz", test_z=z, test_labels=labels, test_predictions=guesses, train_z=z[:5])
    return tmp_path / "outputs.npz"


def names(made: RunReport) -> set[str]:
    return {path.stem for path in made.figures}


def test_all_of_it(run: Path, data: Split, outputs: Path) -> None:
    made = kh.report_run(run, data, outputs=outputs, semantics=KIN, queries=2)
    assert made.page == run / "report.html"
    assert made.missing == []
    assert names(made) == FIGURES
    for path in made.figures:
        assert path.parent == run / "figures"
        if path.suffix == ".png":
            with Image.open(path) as image:
                image.load()
        else:
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
    page = read_page(made.page)
    assert len(page.all("img")) == len(FIGURES) + 4 * 9
    assert {image.size for image in page.pictures()} == {(8, 8)}
    with np.load(outputs) as stored:
        z, labels, guesses = (stored[f"test_{name}"] for name in ("z", "labels", "predictions"))
    codes = kh.Codes.from_logits(z)
    known = kh.evaluate(codes, labels, semantics=KIN, k=59, predictions=guesses)
    assert made.metrics == pytest.approx(known.metrics, nan_ok=True)
    wrong = int((labels != guesses).sum())
    for words in (
        f"{known['mahp_sim']:.4f}",
        f"{wrong} of 60 classes were predicted wrongly",
        "3 epochs in 3.5 s",
        "at the end sim 0.3333",
        HOSTILE,
        "Best queries by mAHP@59",
    ):
        assert words in page.text, words
    scores = known.per_query["mahp_sim"]
    best, worst = int(np.argmax(scores)), int(np.argmin(scores))
    assert f"{best}-{HOSTILE}: {scores[best]:.3f}" in page.text
    assert f"{worst}-{HOSTILE}: {scores[worst]:.3f}" in page.text


def test_what_the_folder_alone_tells(run: Path) -> None:
    made = kh.report_run(run)
    assert names(made) == {"training"}
    page = read_page(made.page)
    assert "What is missing" in page.text
    assert any("--data" in words for words in made.missing)
    (run / "log.jsonl").unlink()
    assert names(kh.report_run(run, out=run / "other.html")) == set()
    assert "log.jsonl is missing" in read_page(run / "other.html").text


def test_what_the_training_measured_is_shown_without_data(run: Path) -> None:
    protocol = {"k": 5, "similarity": {"sim": "matrix"}, "radius": 2}
    card = {"epochs": 3, "protocol": protocol, "metrics": {"mahp_sim": 0.75, "accuracy": None}}
    (run / "metrics.json").write_text(json.dumps(card))
    text = read_page(kh.report_run(run).page).text
    assert "0.7500" in text
    assert "mAHP@5" in text


def test_codes_that_were_encoded(run: Path, data: Split, tmp_path: Path, rng: np.random.Generator) -> None:
    floats = rng.normal(size=(60, 16)).astype(np.float32)
    labels = [CLASSES[label] for label in data.targets()]
    codes = kh.Codes.from_logits(floats)
    CodedItems(codes, data.ids, labels).save(tmp_path / "codes")
    made = kh.report_run(run, codes=tmp_path / "codes")
    assert names(made) == {"training", "distances", "bits", "search-cost"}
    assert [words.split(":")[0] for words in made.missing] == [
        "Likeness of classes",
        "Floats beside the codes",
        "Confusion of classes",
        "Best and worst queries as pictures",
    ]
    CodedItems(codes, data.ids, labels, floats).save(tmp_path / "codes")
    made = kh.report_run(run, data, codes=tmp_path / "codes", semantics={"wup": KIN})
    assert names(made) == {"training", "hp-wup", "distances", "bits", "search-cost"}
    assert [words.split(":")[0] for words in made.missing] == ["Confusion of classes"]


def test_the_encoder_of_the_run_encodes_the_data(tmp_path: Path, rng: np.random.Generator) -> None:
    labels = np.arange(90) % 3
    vectors = (rng.normal(size=(3, 12))[labels] + 0.3 * rng.normal(size=(90, 12))).astype(np.float32)
    split = Split(vectors=vectors, labels=labels, classes=CLASSES)
    kh.train(split, semantics=KIN, bits=8, epochs=2, out=tmp_path / "run", progress=False, device="cpu")
    made = kh.report_run(tmp_path / "run", split)
    assert names(made) == FIGURES
    assert [words.split(":")[0] for words in made.missing] == ["Best and worst queries as pictures"]
    assert "accuracy" in made.metrics


def test_many_items_are_drawn(run: Path, data: Split, outputs: Path) -> None:
    made = kh.report_run(run, data, outputs=outputs, semantics=KIN, most=20)
    assert "20 of 60 items were drawn" in read_page(made.page).text
    assert 1 <= made.metrics["unique_codes"] <= 20


def test_what_cannot_be_reported(run: Path, data: Split, outputs: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds no run"):
        kh.report_run(tmp_path)
    with pytest.raises(NotFoundError, match="holds no encoder"):
        kh.report_run(run, data)
    with pytest.raises(InputError, match="either codes or outputs"):
        kh.report_run(run, codes=tmp_path, outputs=outputs)
    with pytest.raises(InputError, match="or their labels differ"):
        kh.report_run(run, data.take(range(30)), outputs=outputs)
    with pytest.raises(InputError, match="at least 3"):
        kh.report_run(run, most=2)
    np.savez(tmp_path / "none.npz", y=np.ones(3))
    with pytest.raises(FormatError, match="z and labels are needed"):
        kh.report_run(run, outputs=tmp_path / "none.npz")
    np.savez(tmp_path / "wrong.npz", z=np.ones((3, 4)), labels=[0, 1, 3])
    with pytest.raises(FormatError, match="labels from 0 to 3 for 3 classes"):
        kh.report_run(run, outputs=tmp_path / "wrong.npz")
    (run / "metrics.json").write_text("{")
    with pytest.raises(FormatError, match=r"metrics\.json is damaged"):
        kh.report_run(run)
