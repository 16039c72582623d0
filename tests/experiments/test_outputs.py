from __future__ import annotations

from pathlib import Path

import numpy as np
from cifar100 import semantics
from outputs import Outputs
from scores import score

import kinhash as kh


def made(rng: np.random.Generator, bits: int = 16) -> Outputs:
    """Classes are far apart, except that a tenth of the pictures look like another class."""
    centres = rng.normal(size=(100, bits))

    def split(per_class: int) -> tuple[np.ndarray, np.ndarray]:
        labels = np.repeat(np.arange(100), per_class)
        seen = np.where(rng.random(len(labels)) < 0.1, rng.integers(0, 100, len(labels)), labels)
        return np.tanh(centres[seen] + 0.1 * rng.normal(size=(len(labels), bits))).astype(np.float32), labels

    test_z, test_labels = split(6)
    train_z, train_labels = split(8)
    return Outputs(test_z, test_labels, test_labels, train_z, train_labels, {"config": {"bits": bits}})


def test_what_is_saved_comes_back(tmp_path: Path, rng: np.random.Generator) -> None:
    outputs = made(rng)
    assert Outputs.load(tmp_path) is None
    outputs.save(tmp_path)
    back = Outputs.load(tmp_path)
    assert back is not None
    assert back.card == outputs.card
    for name in ("test_z", "test_labels", "test_predictions", "train_z", "train_labels"):
        np.testing.assert_array_equal(getattr(back, name), getattr(outputs, name))
    (tmp_path / "outputs.json").unlink()  # the arrays alone may be half written
    assert Outputs.load(tmp_path) is None


def test_scores_are_those_of_evaluate_under_both_readings(rng: np.random.Generator) -> None:
    outputs = made(rng)
    both = semantics(None, None)  # type: ignore[arg-type]
    parts = score(outputs, both, k=50)
    codes = kh.Codes.from_logits(outputs.test_z)
    own = kh.evaluate(codes, outputs.test_labels, semantics=both["lcs"], k=50)
    assert parts["metrics"]["mahp_lcs_bin"] == round(own.metrics["mahp_sim"], 6)
    against = kh.evaluate(
        outputs.test_z,
        outputs.test_labels,
        semantics=both["wup"],
        database=outputs.train_z,
        database_labels=outputs.train_labels,
        k=50,
    )
    assert parts["metrics_train_database"]["mahp_wup_float"] == round(against.metrics["mahp_sim"], 6)
    assert parts["metrics"]["accuracy"] == 1.0
    assert parts["metrics"]["unique_codes"] == len(np.unique(codes.words, axis=0))
    assert set(parts["curves"]) == {"hp_wup_bin", "hp_wup_float", "hp_lcs_bin", "hp_lcs_float"}
    assert len(parts["curves"]["hp_wup_bin"]) == 50
    assert parts["protocol"]["database"] == "test"
