"""The experiment with captions on made-up photos: several seeds, trials, and who gets which settings."""

from __future__ import annotations

import json
from pathlib import Path

import captions
import numpy as np
import pytest
from caption_data import Captioned

from kinhash.feeding.sentences import Sentences
from kinhash.methods import METHODS


def made_up(seed: int) -> Captioned:
    rng = np.random.default_rng(seed)
    what = rng.normal(size=(24, 8)).astype(np.float32)
    said = np.repeat(what, 2, axis=0) + rng.normal(size=(48, 8)).astype(np.float32) / 4
    starts = np.arange(0, 49, 2)
    texts = [[f"photo {i}", f"picture {i} of {seed}"] for i in range(24)]
    ids = [str(i) for i in range(24)]
    return Captioned(ids, what, what + 0.1, Sentences(said, starts, "minilm"), texts)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    monkeypatch.setattr(captions, "load", lambda *_, **__: (made_up(0), made_up(1)))
    settings = ["--set", "hidden=16", "batch=16"]
    common = ["--root", "nowhere", "--epochs", "2", "--device", "cpu", "--results", str(tmp_path)]
    return ["--table", "text", *common, *settings]


def test_several_seeds_give_means_and_deviations(ask: list[str], tmp_path: Path) -> None:
    captions.main([*ask, "--seeds", "0", "1", "2"])
    assert "two-tower" not in METHODS  # the rival is no method of the package
    card = json.loads((tmp_path / "flickr8k" / "text.json").read_text())
    assert card["config"]["seeds"] == [0, 1, 2]
    seeds = {row["system"]: row["seeds"] for row in card["rows"]}
    assert seeds["ours, 128 bits"] == seeds["two-tower, 128 floats"] == 3
    assert seeds["cca, 128 floats"] == 1
    for row in card["rows"]:
        assert ("deviation of text to image R@10" in row) == (row["seeds"] == 3)
    by_name = {row["system"]: row["text to image R@10"] for row in card["rows"]}
    ratio = by_name["ours, 128 bits"] / by_name["two-tower, 128 floats"]
    assert card["metrics"]["codes / floats of the two-tower"] == pytest.approx(ratio, abs=1e-3)


def test_trials_are_kept_beside_each_other(ask: list[str], tmp_path: Path) -> None:
    for dropout in (0.0, 0.5, 0.5):
        captions.main([*ask, f"dropout={dropout}", "--validation", "--only", "ours", "two-tower"])
    card = json.loads((tmp_path / "flickr8k" / "validation.json").read_text())
    assert len(card["trials"]) == 2 * 4  # floats and bits of both, with each dropout
    assert not (tmp_path / "flickr8k" / "text.json").exists()


def test_the_check_says_what_is_missed_and_writes_nothing(
    ask: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = captions.main([*ask, "--check", "--validation"])
    last = capsys.readouterr().out.splitlines()[-2:]
    assert [line.split(":")[0][5:] for line in last] == [captions.HEADLINE_BITS, captions.RATIO]
    assert status == any(line.startswith("FAIL") for line in last)
    assert not list(tmp_path.iterdir())
