"""Zero-shot on a folder with lists of WordNet ids, as for ImageNet-21k; and what the split of Tiny-ImageNet is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import driver
import numpy as np
import pytest
import zeroshot
import zeroshot_codes
import zeroshot_data
import zeroshot_split
from PIL import Image
from realdata import find_data
from zeroshot_outputs import PartOutputs

import kinhash as kh
from kinhash.meaning.tables import class_table
from kinhash.methods import METHODS

ROOT = Path(__file__).parents[2]
WNIDS = sorted(class_table("ilsvrc2012").names[::60])
SEEN, UNSEEN = WNIDS[::3] + WNIDS[1::3], WNIDS[2::3]
FEW = [
    "--backbone",
    "wrn10-1",
    "--epochs",
    "1",
    "--set",
    "batch=32",
    "crop=2",
    "cutout=4",
    "--variant",
    "few",
    "--device",
    "cpu",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten pictures of every class, without a part for queries; the lists; vectors in place of MiniLM's."""
    rng = np.random.default_rng(0)
    for c, wnid in enumerate(WNIDS):
        (tmp_path / "pictures" / wnid).mkdir(parents=True)
        for i in range(10):
            values = 12 * c + rng.integers(0, 60, (16, 16, 3))
            Image.fromarray(values.astype(np.uint8)).save(tmp_path / "pictures" / wnid / f"{wnid}_{i}.png")
    (tmp_path / "seen.txt").write_text("\n".join(SEEN))
    (tmp_path / "unseen.txt").write_text("\n".join(UNSEEN))
    np.savez(tmp_path / "glosses.npz", classes=np.array(WNIDS), vectors=rng.normal(size=(len(WNIDS), 8)))
    return tmp_path


def run_all(folder: Path, *arguments: str) -> None:
    """What a command does, in this process: it has one child for every run."""
    data = ["--data", "folder", "--root", str(folder / "pictures"), "--glosses", str(folder / "glosses.npz")]
    data += ["--seen", str(folder / "seen.txt"), "--unseen", str(folder / "unseen.txt")]
    places = ["--work", str(folder / "work"), "--results", str(folder / "results")]
    options = driver.parse(zeroshot.EXPERIMENT, [*arguments, *FEW, *data, *places])
    for run in driver.requested(zeroshot.EXPERIMENT, options):
        zeroshot.complete(zeroshot.EXPERIMENT, run, options)


def test_both_protocols_on_a_folder_and_lists(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(ROOT / "experiments" / "zeroshot.py")])
    few = {
        name: {key: values[:1] for key, values in grid.items()} for name, grid in zeroshot_codes.GRIDS.items()
    }
    monkeypatch.setattr(zeroshot_codes, "GRIDS", few)  # all settings are tried below, on less
    with pytest.raises(SystemExit, match="run --table folds"):
        run_all(folder, "--table", "final", "--only", "class-*")
    run_all(folder, "--table", "folds", "--only", "class-*", "--train-only")
    assert not (folder / "results").exists()
    run_all(folder, "--table", "final")
    results = {path.stem: json.loads(path.read_text()) for path in (folder / "results").glob("*/*.json")}
    assert len(results) == 4
    assert str(folder) not in json.dumps(results)
    for name, result in results.items():
        assert (result["config"]["seen"], result["config"]["unseen"]) == (len(SEEN), len(UNSEEN))
        if name.startswith("class-code-"):
            assert result["protocol"]["mode"] == "class-code"
            assert result["protocol"]["n_queries"] == 10 * len(UNSEEN)
            rows = result["rows"]
            assert len(rows) == len(zeroshot_data.SOURCES) * len(zeroshot_codes.ROWS)
            for row in rows:
                hits = [row["hit@1"], row["hit@2"], row["hit@5"]]
                assert 0 <= hits[0] <= hits[1] <= hits[2] <= 1
                assert 0 < row["hp@5"] <= 1
        else:
            assert result["protocol"]["mode"] == "retrieval"
            assert result["protocol"]["n_queries"] == 2 * len(UNSEEN)
            assert result["protocol"]["n_database"] == 8 * len(UNSEEN)
            assert 0 <= result["metrics"]["hit_at_1_bin"] <= result["metrics"]["hit_at_20_bin"] <= 1


def test_the_committed_split_is_the_one_that_is_drawn() -> None:
    split = zeroshot_split.read(zeroshot_split.TINY)
    assert (len(split.seen), len(split.unseen)) == (120, 40)
    assert zeroshot_split.drawn([*split.seen, *split.unseen], 40) == split
    assert [len(fold) for fold in split.folds] == [24, 24, 24]
    assert len({name for fold in split.folds for name in fold}) == 72
    held = split.held_back(1)
    assert set(held.seen) | set(held.unseen) == set(split.seen)
    assert not set(held.seen) & set(held.unseen)
    assert not set(held.unseen) & set(split.unseen)


def test_it_is_of_the_classes_that_there_are() -> None:
    split = zeroshot_split.read(zeroshot_split.TINY)
    assert set(kh.dataset("tiny-imagenet", root=find_data("tiny-imagenet")).classes) == {
        *split.seen,
        *split.unseen,
    }


def test_a_class_is_seen_or_unseen() -> None:
    with pytest.raises(SystemExit, match="n2 is said to be both"):
        zeroshot_split.listed(["n1", "n2"], ["n2"])


def test_every_run_can_be_trained_and_no_two_share_a_name() -> None:
    for table in zeroshot.EXPERIMENT.tables.values():
        runs = table((0, 1))
        assert len({run.name for run in runs}) == len(runs)
        assert {run.method for run in runs} <= set(METHODS)
    of_folds = {run.name for run in zeroshot.folds()}
    assert {zeroshot._of_fold(run, 2).name for run in zeroshot.final() if run.method == "class"} < of_folds


def test_every_method_has_as_many_settings() -> None:
    assert {len(zeroshot_codes.options_of(row)) for row in zeroshot_codes.ROWS} == {12}


def test_settings_are_chosen_by_the_folds_and_all_methods_find_classes() -> None:
    """Features that are a linear map of the class vectors, with noise."""
    rng = np.random.default_rng(0)
    vectors, to_features = rng.normal(size=(20, 6)), rng.normal(size=(6, 12))

    def items(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        labels = np.arange(12 * count) % count
        rows = vectors[first + labels] @ to_features + 0.7 * rng.normal(size=(len(labels), 12))
        return rows.astype(np.float32), labels

    problem = zeroshot_codes.Problem(*items(0, 14), *items(14, 6))
    known = dict.fromkeys(zeroshot_data.SOURCES, (vectors[:14], vectors[14:]))
    choices = zeroshot_codes.chosen([problem], [known])
    rows = zeroshot_codes.measured(problem, known, choices, np.eye(6))
    for row in rows:
        assert row["hit@1"] > 0.4, row  # chance is a sixth
        assert row["hp@1"] == pytest.approx(row["hit@1"])
        name = next(key for key, value in zeroshot_codes.ROWS.items() if value == row["method"])
        best = choices[row["classes by"]][name]["on the folds"]
        assert best == pytest.approx((row["hit@1"] + row["hit@2"] + row["hit@5"]) / 3, abs=1e-4)


def test_outputs_come_back_as_they_were_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    parts = ("train", "val", "database", "queries")
    labels = {part: np.arange(5) for part in parts}
    z, features = ({part: rng.normal(size=(5, 4)).astype(np.float32) for part in parts} for _ in range(2))
    PartOutputs(labels, z, features, {"config": {}}).save(tmp_path)
    found = PartOutputs.load(tmp_path)
    assert found is not None
    for part in parts:
        np.testing.assert_array_equal(found.labels[part], labels[part])
        np.testing.assert_array_equal(found.z[part] >= 0, z[part] >= 0)
        np.testing.assert_allclose(found.features[part], features[part], atol=2e-3)
    assert PartOutputs.load(tmp_path / "nothing") is None
