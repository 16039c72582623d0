"""docs/methods.md: its table is METHODS, its examples run."""

from __future__ import annotations

from pathlib import Path

import method_table
import pytest
from pages import page, run_in_order
from vector_files import write_vectors

from kinhash.methods import METHODS

PAGE = page("methods")


def test_the_table_is_in_step() -> None:
    assert method_table.filled(PAGE) == PAGE, "run python tools/method_table.py"
    assert all(f"| `{name}` |" in PAGE for name in METHODS)


def test_every_example_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_vectors(tmp_path / "vectors", range(4), train=64, test=40, width=8)
    monkeypatch.chdir(tmp_path)
    try:
        names = run_in_order("methods")
    finally:
        METHODS.pop("corners", None)
    assert capsys.readouterr().out.count("\n| ") >= 3
    assert repr(names["own"]).endswith("16 bits, 4 classes)")
