"""docs/metrics.md knows every key of a report, and its example runs."""

from __future__ import annotations

import re

import numpy as np
from pages import blocks, page

import kinhash as kh
from kinhash.report import _TITLES


def test_every_key_is_explained() -> None:
    explained = {re.sub(r"_(<sim>|K)$", "", key) for key in re.findall(r"`(\w+(?:<sim>)?)`", page("metrics"))}
    assert set(_TITLES) <= explained, set(_TITLES) - explained


def test_the_example_runs(rng: np.random.Generator) -> None:
    labels = np.arange(300) % 100
    codes = kh.random_hyperplanes(np.eye(100)[labels] + 0.1 * rng.normal(size=(300, 100)), 32)
    (example,) = blocks("metrics")
    names: dict[str, object] = {"codes": codes, "labels": labels}
    exec(example, names)
    report = names["report"]
    assert isinstance(report, kh.Report)
    assert {"mahp_wup", "mahp_lcs"} < set(report.metrics)
