"""Every example of docs/captions.md runs, in its order, on made-up photos with captions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fake_text import Words
from pages import run_in_order
from PIL import Image

import kinhash as kh


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    lines = ["image_id,split,caption"]
    (tmp_path / "flickr8k").mkdir()
    for i in range(20):
        values = 60 * (i % 4) + rng.integers(0, 60, (40, 50, 3))
        Image.fromarray(values.astype(np.uint8)).save(tmp_path / "flickr8k" / f"{i}.jpg")
        part = "dev" if i >= 16 else "train"
        lines += [
            f"{i},{part},a {['black', 'grey', 'light', 'white'][i % 4]} wall",
            f"{i},{part},nothing else",
        ]
    (tmp_path / "flickr8k" / "captions.csv").write_text("\n".join(lines))
    for module in ("text", "asking"):
        monkeypatch.setattr(f"kinhash.models.{module}.text_encoder", lambda name, **_: Words(name=name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.timeout(600)
def test_every_example_runs_in_order(place: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the extra weights-lite")
    names = run_in_order("captions")
    encoder = names["encoder"]
    assert isinstance(encoder, kh.HashEncoder)
    assert encoder.preprocessing is not None
    assert encoder.preprocessing.whole
    assert names["asked"] == encoder.encode_text("two dogs in a meadow")
