"""A run is read as far as it has come, and damage is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinhash.cards.run_files import read_config, read_log, read_metrics
from kinhash.errors import FormatError, NotFoundError


def test_a_run_that_has_not_ended(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"bits": 8}')
    (tmp_path / "log.jsonl").write_text('{"epoch": 1}\n{"epo')
    assert read_config(tmp_path) == {"bits": 8}
    assert read_metrics(tmp_path) == {}
    assert read_log(tmp_path / "log.jsonl") == [{"epoch": 1}]


def test_what_is_no_run_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"holds no run: config\.json"):
        read_config(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(FormatError, match="an object was expected"):
        read_config(tmp_path)
    (tmp_path / "metrics.json").write_text("{")
    with pytest.raises(FormatError, match=r"metrics\.json is damaged"):
        read_metrics(tmp_path)
    (tmp_path / "log.jsonl").write_text("{\n{}\n")
    with pytest.raises(FormatError, match="line 1, is not json"):
        read_log(tmp_path / "log.jsonl")
