"""The tables of rivals: which runs there are, and that classes held out stay out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import rival_data
import rivals

import kinhash as kh
from kinhash.methods import METHODS


@pytest.fixture(scope="module")
def sample() -> Any:
    return kh.dataset("cifar100-sample")


def test_every_method_is_in_the_tables() -> None:
    for table in (rivals.rivals, rivals.features):
        names = [run.method for run in table()]
        assert sorted([*names, *rivals.LEFT_OUT]) == sorted(METHODS)
    order = [run.method for run in rivals.rivals()]
    waiting = [name for name in order if rivals.wants_features(METHODS[name])]
    assert order[0] == "class"
    assert order[-len(waiting) :] == waiting


def test_methods_without_codes_ask_for_no_bits() -> None:
    for run in rivals.features():
        assert (run.train_arguments()["bits"] is None) == (METHODS[run.method].retrieves == "floats")


def test_one_class_of_every_kind_is_unseen(sample: Any) -> None:
    kinds = kh.semantics("tree:cifar100", classes="cifar100", measure="lcs")
    assert len(set(rival_data.UNSEEN)) == 20
    unseen = kinds.take(rival_data.UNSEEN)
    siblings = (
        kinds.distance[kinds.positions(rival_data.UNSEEN)] <= np.sort(kinds.distance, axis=1)[:, 4].max()
    )
    assert siblings.sum(axis=1).min() >= 2
    assert len(unseen) == 20


def test_classes_held_out_are_neither_trained_nor_missing(sample: Any) -> None:
    apart = rival_data.without_classes(sample, rival_data.UNSEEN)
    assert set(apart.test.classes) == set(rival_data.UNSEEN)
    assert not set(apart.train.classes) & set(apart.test.classes)
    assert len(apart.train.classes) == 80
    wanted = np.isin(np.array(sample.classes)[sample.test.targets()], rival_data.UNSEEN)
    assert apart.test.ids == [name for name, keep in zip(sample.test.ids, wanted, strict=True) if keep]
    named = np.array(apart.test.classes)[apart.test.targets()]
    assert named.tolist() == np.array(sample.classes)[sample.test.targets()][wanted].tolist()
    with pytest.raises(SystemExit, match="lacks"):
        rival_data.without_classes(sample, ["unicorn"])
    with pytest.raises(SystemExit, match="one of the two parts"):
        replace(apart, test=apart.train)


def test_short_options() -> None:
    assert rivals.expanded(["--features", "--list"]) == [
        "--table",
        "features",
        "--data",
        "cifar100-features",
        "--list",
    ]
    assert rivals.expanded(["--unseen"]) == ["--data", "cifar100-unseen"]
    assert rivals.expanded(["--features", "--unseen"])[-1] == "cifar100-unseen-features"
