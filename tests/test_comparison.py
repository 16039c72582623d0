"""Comparisons: seeds are summarised, chance is told from difference, unlike protocols are refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_report import make_report

import kinhash as kh
from kinhash.comparison import compare
from kinhash.errors import InputError
from kinhash.evaluation import evaluate
from kinhash.report import Report


def report_of(name: str, values: np.ndarray) -> Report:
    base = make_report(name)
    return Report(
        name,
        base.protocol,
        {"mahp_wup": float(values[~np.isnan(values)].sum() / len(values))},
        {},
        {"mahp_wup": values},
    )


def test_mean_and_deviation_over_seeds() -> None:
    result = compare([report_of("a", np.array([0.2, 0.4])), report_of("a", np.array([0.4, 0.8]))])
    (row,) = result.rows
    assert (row.seeds, row.mean["mahp_wup"]) == (2, pytest.approx(0.45))
    assert row.deviation["mahp_wup"] == pytest.approx(np.std([0.3, 0.6], ddof=1))
    assert row.p_value == {}
    assert "0.4500 ± 0.2121" in str(result)
    assert "| a | 2 | 0.4500 ± 0.2121 |" in result.to_markdown()


def test_small_samples_match_all_sign_patterns(rng: np.random.Generator) -> None:
    d = rng.normal(0.3, 1, 9)
    result = compare([report_of("base", np.zeros(9)), report_of("new", d)], flips=40_000)
    patterns = np.array(list(itertools.product([-1, 1], repeat=9)))
    exact = np.mean(np.abs(patterns @ d) >= abs(d.sum()) - 1e-12)
    assert result.rows[1].p_value["mahp_wup"] == pytest.approx(exact, abs=0.015)
    assert result.rows[1].difference["mahp_wup"] == pytest.approx(d.mean())


def test_large_samples_agree_with_the_t_test(rng: np.random.Generator) -> None:
    d = rng.normal(0.04, 1, 3000)
    result = compare([report_of("base", np.zeros(3000)), report_of("new", d)])
    assert result.rows[1].p_value["mahp_wup"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.005)


def test_identical_and_clearly_better_methods(rng: np.random.Generator) -> None:
    values = rng.random(2000)
    same, better = (
        report_of("same", values.copy()),
        report_of("better", values + 0.1 + 0.01 * rng.random(2000)),
    )
    result = compare([report_of("base", values), same, better])
    assert result.rows[1].p_value["mahp_wup"] == 1.0
    assert result.rows[2].p_value["mahp_wup"] < 1e-6
    assert str(result).count("**") >= 2  # the cell, and the legend


def test_queries_without_a_value_are_left_out_of_the_pairs() -> None:
    ours, base = np.array([0.9, np.nan, 0.8]), np.array([0.5, 0.5, np.nan])
    row = compare([report_of("base", base), report_of("new", ours)]).rows[1]
    assert row.difference["mahp_wup"] == pytest.approx(0.4)
    nothing = compare([report_of("base", np.full(2, np.nan)), report_of("new", np.ones(2))]).rows[1]
    assert math.isnan(nothing.p_value["mahp_wup"])


def test_unlike_protocols_and_bad_calls_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        compare([])
    with pytest.raises(InputError, match="item 1 is float, not a Report"):
        compare([make_report("a"), 0.5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="radius is 2 and 3"):
        compare([make_report("a"), make_report("b", radius=None), make_report("c", radius=3)])
    with pytest.raises(InputError, match="ties is 'expected' and 'stable'"):
        compare([make_report("a"), make_report("b", ties="stable")])
    with pytest.raises(InputError, match="none of the reports: a"):
        compare([make_report("a")], baseline="z")
    for flips in (0, -5, 2.5, None):
        with pytest.raises(InputError, match=f"at least 1; got {flips}"):
            compare([make_report("a"), make_report("b")], flips=flips)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no report holds 'speed'"):
        compare([make_report("a")], metrics=["speed"])


def test_codes_and_floats_of_one_name_are_two_rows() -> None:
    binary, floats = make_report("a"), make_report("a", representation="float", metric="l1", radius=None)
    result = compare([floats, binary, floats, make_report("b")], metrics=["mahp_lcs"])
    assert [(row.name, row.seeds) for row in result.rows] == [("a, floats", 2), ("a, codes", 1), ("b", 1)]
    assert result.metrics == ("mahp_lcs",)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"bits": 32}, "reports named 'kin' have 64 and 32 bits, .* give each method a name"),
        ({"representation": "float", "bits": 16}, "have 64 and 16 dimensions"),
        ({"representation": "float", "metric": "dot"}, "are ranked by 'l1' and 'dot'"),
    ],
)
def test_seeds_have_one_length_and_one_metric(changes: dict[str, Any], says: str) -> None:
    floats = {"representation": "float", "metric": "l1"} if "representation" in changes else {}
    same, other = make_report(**floats), make_report(**{**floats, **changes})
    with pytest.raises(InputError, match=says):
        compare([same, same, other])
    renamed = Report("other", other.protocol, other.metrics, other.curves, other.per_query)
    assert [row.seeds for row in compare([same, same, renamed]).rows] == [2, 1]


def test_other_labels_or_another_order_cannot_be_paired(rng: np.random.Generator) -> None:
    codes, labels = kh.Codes.from_logits(rng.normal(size=(30, 8))), np.arange(30) % 3
    report = kh.evaluate(codes, labels, k=5)
    same = kh.evaluate(codes.to_signs(), labels.astype(np.int32), k=5)
    assert compare([report, same]).rows[1].seeds == 1
    for others in (labels[::-1], np.arange(30) % 2):
        with pytest.raises(InputError, match="labels_crc32 is"):
            compare([report, kh.evaluate(codes, others, k=5)])
    far = kh.evaluate(codes, labels, database=codes, database_labels=labels, k=5)
    with pytest.raises(InputError, match="labels_crc32 is"):
        compare([far, kh.evaluate(codes, labels, database=codes, database_labels=labels[::-1], k=5)])


def test_reports_measured_by_evaluate_compare(rng: np.random.Generator) -> None:
    labels = np.arange(60) % 6
    z = np.eye(6)[labels] + rng.normal(size=(60, 6)) / 4
    good = [evaluate(z + rng.normal(size=z.shape) / 9, labels, k=5, name="good") for _ in range(3)]
    bad = [evaluate(rng.normal(size=z.shape), labels, k=5, name="noise") for _ in range(3)]
    rows = compare([*bad, *good]).rows
    assert [row.seeds for row in rows] == [3, 3]
    assert rows[1].difference["map_full"] == pytest.approx(
        rows[1].mean["map_full"] - rows[0].mean["map_full"]
    )
    assert rows[1].p_value["map_full"] < 0.001
