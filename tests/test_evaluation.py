"""`evaluate` from end to end: published values, agreement with its parts, protocols, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rich
from realdata import find_data

import kinhash as kh
from kinhash.errors import InputError, UnknownClassError
from kinhash.meaning.class_embeddings import class_embeddings
from kinhash.meaning.semantics import Semantics
from kinhash.meaning.taxonomy import Taxonomy
from kinhash.metrics.item_targets import score_item_targets
from kinhash.metrics.ranking import score_ranking

LABELS = np.repeat(np.arange(100), 100)  # those of the test set of CIFAR-100
KEYS = {
    *(
        "mahp_sim",
        "hp_at_k_sim",
        "map_full",
        "map_at_k_found",
        "map_at_k_relevant",
        "precision_at_k",
        "recall_at_k",
    ),
    *("hit_at_1", "hit_at_2", "hit_at_5", "precision_within_radius", "accuracy", "balanced_accuracy"),
    *(
        "unique_codes",
        "largest_bucket",
        "bucket_entropy",
        "mean_nn_hamming_512",
        "bit_balance",
        "bit_correlation",
    ),
    *("constant_bits", "multi_index_candidates"),
}


def lcs_of_cifar() -> Semantics:
    tree = Taxonomy.from_file(find_data("hierarchies/cifar.parent-child.txt"))
    names = tuple(str(i) for i in range(100))
    return Semantics("tree lcs", 1 - tree.lcs_height(names), names)


@pytest.fixture
def few(rng: np.random.Generator) -> tuple[kh.Codes, np.ndarray, Semantics]:
    """600 codes of 4 classes."""
    labels = rng.integers(0, 4, 600)
    codes = kh.Codes.from_logits(rng.normal(size=(4, 16))[labels] + rng.normal(size=(600, 16)))
    half = rng.random((4, 4)) / 2
    distance = half + half.T
    np.fill_diagonal(distance, 0)
    return codes, labels, Semantics("made up", distance, ("a", "b", "c", "d"))


@pytest.mark.parametrize(("bits", "published"), [(16, 0.940), (32, 0.975), (64, 0.990), (128, 0.994)])
def test_hyperplanes_of_class_embeddings_with_true_labels(bits: int, published: float) -> None:
    lcs = lcs_of_cifar()
    embeddings = class_embeddings(lcs.similarity)
    found = [
        kh.evaluate(kh.random_hyperplanes(embeddings, bits, seed)[LABELS], LABELS, semantics={"lcs": lcs})[
            "mahp_lcs"
        ]
        for seed in range(6 if bits == 16 else 2)
    ]
    assert np.mean(found) == pytest.approx(published, abs=0.01)


def test_random_rankings_score_what_was_published(rng: np.random.Generator) -> None:
    codes = kh.Codes.from_bits(rng.random((10_000, 64)) < 0.5)
    value = kh.evaluate(codes, LABELS, semantics={"lcs": lcs_of_cifar()})["mahp_lcs"]
    assert value == pytest.approx(0.193, abs=0.005)


def test_random_rankings_by_wu_palmer(rng: np.random.Generator) -> None:
    codes = kh.Codes.from_bits(rng.random((10_000, 64)) < 0.5)
    wup = kh.semantics("wordnet", classes="cifar100", variant="nltk")
    assert kh.evaluate(codes, LABELS, semantics={"wup": wup})["mahp_wup"] == pytest.approx(0.4825, abs=0.005)


def test_every_metric_of_a_report(few: tuple[kh.Codes, np.ndarray, Semantics], tmp_path: Path) -> None:
    codes, labels, semantics = few
    report = kh.evaluate(codes, labels, semantics=semantics, k=9, predictions=labels, name="few")
    assert set(report.metrics) == KEYS
    assert report["accuracy"] == report["balanced_accuracy"] == 1
    direct = score_ranking(
        codes, labels, similarities={"sim": semantics.similarity}, k=9, hits=(1, 2, 5), radius=2
    )
    for key, value in direct.metrics.items():
        assert report[key] == pytest.approx(value), key
    assert not any(report.title(key) == key for key in KEYS - {"accuracy"})
    assert "{" not in str(report) + report.to_markdown()
    assert "similarity sim = made up" in str(report)
    report.save(tmp_path / "r.json")
    assert kh.Report.load(tmp_path / "r.json").protocol == report.protocol


def test_it_prints_as_a_rich_table(
    few: tuple[kh.Codes, np.ndarray, Semantics], capsys: pytest.CaptureFixture[str]
) -> None:
    rich.print(kh.evaluate(few[0], few[1], k=9, name="few"))
    shown = capsys.readouterr().out
    assert "few" in shown
    assert "precision@9" in shown
    assert "600 queries" in shown


def test_vectors_have_no_bits(few: tuple[kh.Codes, np.ndarray, Semantics]) -> None:
    codes, labels, semantics = few
    report = kh.evaluate(
        codes.to_signs(), labels, semantics={"a": semantics, "b": semantics}, k=9, metric="dot"
    )
    assert report["mahp_a"] == report["mahp_b"]
    assert report["mahp_a"] == pytest.approx(
        kh.evaluate(codes, labels, semantics={"a": semantics}, k=9)["mahp_a"]
    )
    assert report.protocol["representation"] == "float"
    assert report.protocol["metric"] == "dot"
    assert not {"unique_codes", "precision_within_radius"} & set(report.metrics)


def test_another_database(few: tuple[kh.Codes, np.ndarray, Semantics]) -> None:
    codes, labels, semantics = few
    report = kh.evaluate(
        codes[:50], labels[:50], semantics=semantics, database=codes[50:], database_labels=labels[50:], k=9
    )
    direct = score_ranking(
        codes[:50], labels[:50], codes[50:], labels[50:], similarities={"sim": semantics.similarity}, k=9
    )
    assert report["mahp_sim"] == pytest.approx(direct.metrics["mahp_sim"])
    assert report.protocol["n_database"] == 550
    assert report.protocol["exclude_query"] is False


def test_target_vectors_instead_of_classes(
    few: tuple[kh.Codes, np.ndarray, Semantics], rng: np.random.Generator
) -> None:
    targets = rng.normal(size=(600, 5))
    report = kh.evaluate(few[0], targets, semantics={"bert": "cosine"}, k=9)
    direct = score_item_targets(few[0], targets, distance="cosine", name="bert", k=9)
    assert report["mahp_bert"] == direct.metrics["mahp_bert"]
    assert report["kendall_tau"] == direct.metrics["kendall_tau"]
    assert report["unique_codes"] > 0
    assert "bert = cosine distance of target vectors" in str(report)
    assert kh.evaluate(few[0], targets, k=9)["mahp_target"] != report["mahp_bert"]


def test_what_is_refused(few: tuple[kh.Codes, np.ndarray, Semantics]) -> None:
    codes, labels, semantics = few
    evaluate: Any = kh.evaluate
    targets = np.ones((600, 2))
    other = Semantics("x", np.zeros((1, 1)), ("a",))
    for call, says in (
        (lambda: evaluate(codes, labels, k=600), "between 1 and 599"),
        (lambda: evaluate(codes, labels, k="many"), "k is a whole number, got 'many'"),
        (lambda: evaluate(codes, labels, semantics=semantics, k=1), "at least 2"),
        (lambda: evaluate(codes, labels[:9]), "9 entries for 600 items"),
        (lambda: evaluate(codes, labels, name=5), "name of a report is text, got 5"),
        (lambda: evaluate(codes[:0], labels[:0]), "empty"),
        (lambda: evaluate(codes[:0], labels[:0], semantics=semantics), "empty"),
        (lambda: evaluate(codes[:1], labels[:1], k=1), "no others"),
        (lambda: evaluate(codes, labels / 2), "integers"),
        (lambda: evaluate(codes, labels, semantics=np.eye(4)), "must be Semantics, got ndarray"),
        (lambda: evaluate(codes, labels, semantics="wordnet"), "must be Semantics, got str"),
        (lambda: evaluate(codes, labels, semantics={"a b": semantics}), "'a b'"),
        (lambda: evaluate(codes, labels, semantics={"a": semantics, "b": other}), "numbers of classes"),
        (lambda: evaluate(codes, labels, predictions=labels[:3]), "predictions has 3"),
        (lambda: evaluate(codes, labels, database=codes), "needs database_labels"),
        (lambda: evaluate(codes, labels, database_labels=labels), "without a database"),
        (lambda: evaluate(codes, labels, database=codes.to_signs(), database_labels=labels), "both be Codes"),
        (lambda: evaluate(codes, labels, ties="random"), "'expected', 'stable'"),
        (lambda: evaluate(codes, labels, formula="new"), "'corrected', 'legacy'"),
        (lambda: evaluate(codes, labels, radius=-1), "radius"),
        (lambda: evaluate(codes, labels, hits=[700]), "a cutoff of hits is 700"),
        (lambda: evaluate(codes.to_signs() * np.nan, labels), "in 600 rows, first in row 0"),
        (lambda: evaluate(codes, targets, semantics=[]), "one of 'cosine', 'manhattan'"),
        (lambda: evaluate(codes, [[1, 2], [3]]), "labels cannot be read as an array"),
        (lambda: evaluate(codes, targets, hits=[1]), "hits needs classes"),
        (lambda: evaluate(codes, targets, semantics=semantics), "target vectors"),
    ):
        with pytest.raises(InputError, match=says):
            call()
    with pytest.raises(UnknownClassError, match=r"labels\[0\] is 4"):
        evaluate(codes, np.full(600, 4), semantics=semantics)


class Made:
    """What an encoder gives: a representation that knows its metric."""

    metric = "dot"

    def __init__(self, representation: Any) -> None:
        self.representation = representation


def test_what_an_encoder_made_brings_its_own_metric() -> None:
    rows, labels = np.random.default_rng(0).normal(size=(30, 6)), np.arange(30) % 3
    own = kh.evaluate(Made(rows), labels, k=5)
    assert own.protocol["metric"] == "dot"
    assert own.metrics == kh.evaluate(rows, labels, k=5, metric="dot").metrics
    assert kh.evaluate(Made(rows), labels, k=5, metric="l2").protocol["metric"] == "l2"
    assert kh.evaluate(rows, labels, k=5).protocol["metric"] == "l1"
    codes = kh.Codes.from_logits(rows)
    assert kh.evaluate(Made(codes), labels, k=5).metrics == kh.evaluate(codes, labels, k=5).metrics
    both = kh.evaluate(Made(rows), labels, database=Made(rows[:20]), database_labels=labels[:20], k=5)
    assert both.protocol["n_database"] == 20
