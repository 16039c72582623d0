"""The commands as a user gives them, on the CPU, with the sample that ships with the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from realdata import find_data

ROOT = Path(__file__).parents[2]
SMALL = ["--data", "cifar100-sample", "--backbone", "wrn10-1", "--epochs", "1", "--device", "cpu"]


def command(script: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    places = ["--work", str(folder / "work"), "--results", str(folder / "results")]
    return subprocess.run(
        [sys.executable, str(ROOT / "experiments" / script), *arguments, *places],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_table_is_trained_scored_and_not_done_twice(tmp_path: Path) -> None:
    table = ["--table", "ablations", *SMALL, "--only", "class-*"]
    first = command("cifar100.py", tmp_path, *table)
    assert first.returncode == 0, first.stdout + first.stderr
    name = "class-wrn10-1-64bits-1epochs-seed0"
    path = tmp_path / "results" / "cifar100-sample" / f"{name}.json"
    result = json.loads(path.read_text())
    assert result["script"].startswith("experiments/cifar100.py --table ablations")
    assert str(tmp_path) not in path.read_text()
    metrics = result["metrics"]
    assert {f"mahp_{of}_{kind}" for of in ("wup", "lcs") for kind in ("bin", "float")} < set(metrics)
    assert 0 < metrics["accuracy"] < 1
    assert 0 < result["metrics_train_database"]["mahp_wup_bin"] < 1
    assert result["seconds"]["train"] > 0
    assert all(np.isfinite(value) for value in metrics.values() if value is not None)
    listed = command("cifar100.py", tmp_path, *table, "--list")
    assert listed.stdout.strip() == f"done  {name}"


@pytest.mark.slow
def test_all_ablations_side_by_side(tmp_path: Path) -> None:
    done = command(
        "cifar100.py", tmp_path, "--table", "ablations", *SMALL, "--processes", "2", "--train-only"
    )
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "results").exists()
    assert len(list((tmp_path / "work").glob("*/outputs.json"))) == 5
    scored = command("cifar100.py", tmp_path, "--table", "ablations", *SMALL)
    assert scored.returncode == 0, scored.stdout
    assert len(list((tmp_path / "results" / "cifar100-sample").glob("*.json"))) == 5


@pytest.mark.slow
def test_the_imagenet_path_end_to_end_on_few_small_pictures(tmp_path: Path) -> None:
    few = few_pictures(find_data("tiny-imagenet"), tmp_path / "data")
    options = ["--data", "tiny-imagenet", "--root", str(few), "--epochs", "1", "--device", "cpu"]
    options += ["--set", "batch=16", "--variant", "few"]
    done = command("imagenet.py", tmp_path, "--table", "tiny", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "results" / "tiny-imagenet").glob("*.json")
    result = json.loads(path.read_text())
    assert result["config"]["backbone"] == "resnet50d"
    assert 0 < result["metrics"]["mahp_wup_bin"] < 1


def few_pictures(source: Path, target: Path) -> Path:
    """Two pictures of every class for training, three for testing, in the layout of the source."""
    import pyarrow.parquet as pq

    target.mkdir()
    for pattern, count in (("train", 2), ("val", 3)):
        (path,) = source.glob(f"{pattern}-*.parquet")
        rows = pq.read_table(path)
        wnids = np.array(rows.column("wnid").to_pylist())
        kept = np.concatenate([np.flatnonzero(wnids == wnid)[:count] for wnid in np.unique(wnids)])
        pq.write_table(rows.take(np.sort(kept)), target / path.name)
    return target
