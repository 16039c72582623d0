from __future__ import annotations

import pytest
from measure import ROOT, command_line, print_rows


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


def test_rows_are_printed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"what": "open", "seconds": 0.123456, "n": 3}, {"what": "add"}])
    assert capsys.readouterr().out == "what open, seconds 0.1235, n 3\nwhat add\n"
