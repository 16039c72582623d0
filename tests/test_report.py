"""A report names its protocol, prints, and survives being saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinhash as kh
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.report import Report


def make_report(name: str = "kin", **changes: Any) -> Report:
    protocol = {
        "database": "queries",
        "n_queries": 3,
        "n_database": 3,
        "exclude_query": True,
        "ties": "expected",
        "formula": "corrected",
        "k": 250,
        "radius": 2,
        "representation": "bin",
        "bits": 64,
        "metric": "hamming",
        "similarity": {"wup": "wordnet wup", "lcs": "tree lcs"},
    }
    return Report(
        name,
        {**protocol, **changes},
        {"mahp_wup": 0.5, "mahp_lcs": 1 / 3, "map_full": float("nan"), "unique_codes": 12345.0},
        {"hp_wup": np.array([1.0, 0.5])},
        {"mahp_wup": np.array([0.25, 0.75, np.nan])},
    )


def test_the_text_names_the_protocol_and_every_metric() -> None:
    text = str(make_report())
    for part in (
        "kin",
        "each query against all others",
        "64-bit codes",
        "ties: expected",
        "k = 250",
        "corrected",
    ):
        assert part in text
    assert "wup = wordnet wup" in text
    assert "mAHP@250, wup" in text
    assert "12,345" in text
    assert "none" in text  # a metric without a value says so


def test_floats_and_other_databases_are_named() -> None:
    text = str(make_report(representation="float", metric="l1", database="given", n_database=50000))
    assert "64-d float vectors, l1" in text
    assert "against a database of 50,000" in text


def test_json_round_trip(tmp_path: Path) -> None:
    report = make_report()
    report.save(tmp_path / "deep" / "r.json")
    again = Report.load(tmp_path / "deep" / "r.json")
    assert again.protocol == report.protocol
    assert again["mahp_lcs"] == report["mahp_lcs"]  # to the bit
    assert np.isnan(again["map_full"])
    np.testing.assert_array_equal(again.per_query["mahp_wup"], report.per_query["mahp_wup"])
    np.testing.assert_array_equal(again.curves["hp_wup"], report.curves["hp_wup"])


def test_markdown_holds_the_table(tmp_path: Path) -> None:
    make_report().save(tmp_path / "r.md")
    assert "| mAHP@250, lcs | 0.3333 |" in (tmp_path / "r.md").read_text()


def test_bad_paths_and_files(tmp_path: Path) -> None:
    report = make_report()
    with pytest.raises(InputError, match=r"\.json or \.md"):
        report.save(tmp_path / "r.txt")
    with pytest.raises(NotFoundError, match="mahp_wup"):
        report["nonsense"]
    with pytest.raises(NotFoundError, match="cannot read"):
        Report.load(tmp_path / "absent.json")
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        report.save(tmp_path / "taken" / "r.json")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(FormatError, match="not json"):
        Report.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(FormatError, match="no kinhash report"):
        Report.load(tmp_path / "x.json")
    card = report.to_dict()
    del card["metrics"]
    (tmp_path / "x.json").write_text(json.dumps(card))
    with pytest.raises(FormatError, match="damaged"):
        Report.load(tmp_path / "x.json")


def test_no_title_breaks_a_markdown_table(rng: np.random.Generator) -> None:
    report = kh.evaluate(kh.Codes.from_logits(rng.normal(size=(40, 32))), np.arange(40) % 4, k=10)
    lines = report.to_markdown().splitlines()
    assert {line.count("|") for line in lines if line.startswith("|")} == {3}
