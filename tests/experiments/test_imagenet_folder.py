"""The ImageNet table on folders in the layout of ILSVRC: train/<wnid>/*.JPEG and val/<wnid>/*.JPEG."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from kinhash.meaning.tables import class_table

ROOT = Path(__file__).parents[2]
CLASSES = class_table("ilsvrc2012").names[::80]


def ilsvrc(folder: Path) -> Path:
    """13 classes of ImageNet with 20 pictures each in both parts: 260 neighbours for the paper's k of 250."""
    rng = np.random.default_rng(0)
    for part in ("train", "val"):
        for c, wnid in enumerate(CLASSES):
            place = folder / part / wnid
            place.mkdir(parents=True)
            for i in range(20):
                values = 15 * c + rng.integers(0, 60, (20 + i % 5, 24, 3))
                Image.fromarray(values.astype(np.uint8)).save(place / f"{wnid}_{i}.JPEG")
    return folder


def test_the_table_runs_on_a_folder_of_imagenet(tmp_path: Path) -> None:
    assert len(CLASSES) == 13
    options = ["--table", "tiny", "--data", "imagenet", "--root", str(ilsvrc(tmp_path / "ILSVRC"))]
    options += [
        "--backbone",
        "wrn10-1",
        "--epochs",
        "1",
        "--set",
        "batch=32",
        "--variant",
        "few",
        "--device",
        "cpu",
    ]
    options += ["--work", str(tmp_path / "work"), "--results", str(tmp_path / "results")]
    script = ROOT / "experiments" / "imagenet.py"
    done = subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "results" / "imagenet").glob("*.json")
    result = json.loads(path.read_text())
    assert result["protocol"]["k"] == 250
    assert 0 < result["metrics"]["mahp_wup_bin"] < 1
