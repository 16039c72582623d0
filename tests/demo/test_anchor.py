"""The figure known in advance: codes of true classes reach it at every length."""

from __future__ import annotations

import pytest

import kinhash as kh
from kinhash.demo.anchor import KNOWN, anchors, codes_of_true_classes


def test_codes_of_true_classes_reach_the_known_figures() -> None:
    found = anchors(kh.semantics("tree:cifar100"))
    assert found.keys() == KNOWN.keys()
    for bits, known in KNOWN.items():
        assert found[bits] == pytest.approx(known, abs=0.01)


def test_the_report_says_what_it_measured() -> None:
    report = codes_of_true_classes(kh.semantics("tree:cifar100"), 16)
    assert report["unique_codes"] <= 100
    assert "10,000 queries" in report.describe_protocol()
    assert "16-bit codes" in report.describe_protocol()
