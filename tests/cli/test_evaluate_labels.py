"""Labels read from files."""

from __future__ import annotations

from pathlib import Path

from kinhash.cli.evaluate_labels import read_labels


def test_the_mark_that_some_editors_put_first_is_no_letter(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("3\n4\n", encoding="utf-8-sig")
    assert read_labels(tmp_path / "labels.txt").tolist() == ["3", "4"]
