"""The demo from end to end: with a small network in seconds, and as a user runs it, with the bars it must pass."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import kinhash as kh
from kinhash.cli import cli
from kinhash.demo import pictures
from kinhash.demo.anchor import KNOWN
from kinhash.demo.folder import PARTS
from kinhash.demo.run import run_demo
from kinhash.errors import MissingDependencyError
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of random weights for pictures of 32 pixels, and one epoch."""

    def backbone() -> Backbone:
        return build_backbone("wrn10-1")

    monkeypatch.setattr(pictures, "backbone", backbone)
    monkeypatch.setattr(pictures, "EPOCHS", 1)


@pytest.mark.usefixtures("small")
def test_every_part_is_written_and_can_be_used(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["demo", "--out", str(out), "--bits", "32"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == sorted(PARTS)
    card = json.loads((out / "demo.json").read_text())
    for bits, known in KNOWN.items():
        assert card["known"][str(bits)] == pytest.approx(known, abs=0.01)
        assert f"known {known:.3f}: agrees" in done.output
    assert card["seconds"].keys() == {"anchor", "features", "training", "evaluation", "searches"}
    for trained, plain in card["margins"].values():
        assert f"{trained:.4f} trained, {plain:.4f} random hyperplanes" in done.output
        assert f"{trained - plain:+.4f}" in done.output

    data = kh.dataset("cifar100-sample")
    codes = kh.Codes.load(out / "codes")
    assert kh.load_encoder(out / "encoder").encode(data.test) == codes
    report = kh.Report.load(out / "report.json")
    again = kh.evaluate(codes, data.test.targets(), semantics=kh.semantics("wordnet", data.classes))
    assert again["mahp_sim"] == pytest.approx(report["mahp_wup"], abs=1e-9)
    with kh.Index.open(out / "pictures.kin") as index:
        ids, kept = index.items()
        rows = [data.test.ids.index(name) for name in ids]
        assert len(rows) == len(data.test) - 3
        assert kept == codes[rows]
    for name in ("searches.png", "curves.png"):
        with Image.open(out / name) as picture:
            assert picture.width > 400


def test_what_is_missing_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kinhash\[demo\]'"):
        run_demo(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_sample_is_small_and_its_parts_share_no_picture() -> None:
    data = kh.dataset("cifar100-sample")
    assert isinstance(data.train.images, np.ndarray)
    assert isinstance(data.test.images, np.ndarray)
    assert np.bincount(data.train.targets()).tolist() == [22] * 100
    assert np.bincount(data.test.targets()).tolist() == [10] * 100
    seen = {image.tobytes() for image in data.train.images}
    assert not any(image.tobytes() in seen for image in data.test.images)
    resources = Path(kh.__file__).parent / "data" / "resources"
    assert sum(path.stat().st_size for path in resources.rglob("*") if path.is_file()) <= 6 * 2**20


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_training_wins_by_a_wide_margin(tmp_path: Path) -> None:
    done = run_demo(tmp_path / "out", progress=False)
    for metric, least in {"mahp_wup": 0.10, "mahp_lcs": 0.20, "map_full": 0.10}.items():
        trained, plain = done.margins[metric]
        assert trained - plain > least, metric
