from __future__ import annotations

import cifar100
import imagenet
import pytest
from run import Run, changed, chosen, parsed_options, with_seeds

from kinhash.methods import METHODS


@pytest.mark.parametrize("experiment", [cifar100.EXPERIMENT, imagenet.EXPERIMENT])
def test_every_run_of_every_table_is_one_that_can_be_trained(experiment: object) -> None:
    for name, table in experiment.tables.items():  # type: ignore[attr-defined]
        runs = table((0, 1))
        assert len({run.name for run in runs}) == len(runs), name
        assert {run.seed for run in runs} == {0, 1}
        assert {run.method for run in runs} <= set(METHODS)


def test_ablations_differ_in_nothing_but_the_losses() -> None:
    runs = cifar100.ablations()
    assert [run.method for run in runs] == ["sim", "class", "kl-class", "sim-kl", "sim-kl-class"]
    assert len({(r.backbone, r.bits, r.epochs, r.recipe, str(r.options)) for r in runs}) == 1


def test_a_run_that_two_tables_share_has_one_name() -> None:
    shared = {run.name for run in cifar100.ablations()} & {run.name for run in cifar100.lengths()}
    assert shared == {"sim-kl-class-resnet110w-64bits-100epochs-seed0"}


def test_what_changes_the_result_changes_the_name() -> None:
    base = Run("sim", "resnet110w")
    others = [
        Run("sim-kl", "resnet110w"),
        Run("sim", "wrn16-8"),
        Run("sim", "resnet110w", bits=32),
        Run("sim", "resnet110w", epochs=99),
        Run("sim", "resnet110w", seed=1),
        Run("sim", "resnet110w", recipe="paper"),
        *changed([base], options={"lr": 0.2}, variant="hot"),
    ]
    assert len({run.name for run in [base, *others]}) == len(others) + 1
    with pytest.raises(SystemExit, match="--variant"):
        changed([base], options={"lr": 0.2})


def test_choosing_runs_and_reading_options() -> None:
    runs = with_seeds([Run("sim", "x"), Run("class", "x")], [0, 1])
    assert [run.seed for run in runs] == [0, 0, 1, 1]
    assert [run.method for run in chosen(runs, "class-*")] == ["class", "class"]
    with pytest.raises(SystemExit, match="no run is called"):
        chosen(runs, "nothing")
    assert parsed_options(["lr=0.2", "head=none", "flip=False"]) == {"lr": 0.2, "head": "none", "flip": False}
    with pytest.raises(SystemExit, match="NAME=VALUE"):
        parsed_options(["lr"])
