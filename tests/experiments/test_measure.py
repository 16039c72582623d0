from __future__ import annotations

import pytest
from measure import ROOT, command_line


@pytest.mark.parametrize(
    "arguments",
    [["--short"], ["--results", "/some/where", "--short"], ["--short", "--results=/some/where"]],
)
def test_results_name_no_folder_of_the_machine(arguments: list[str]) -> None:
    script = str(ROOT / "benchmarks" / "losses.py")
    assert command_line([script, *arguments]) == "benchmarks/losses.py --short"


def test_folders_of_data_are_not_named_either() -> None:
    script = str(ROOT / "experiments" / "cifar100.py")
    told = command_line([script, "--root", "/some/where", "--cache", "../else", "--table", "fast"])
    assert told == "experiments/cifar100.py --root DIR --cache DIR --table fast"
