from __future__ import annotations

import json

from cli.commands import done

from kinhash.methods import METHODS


def test_a_line_for_every_method() -> None:
    lines = done("methods").splitlines()
    assert lines[0].split() == ["method", "paper", "year", "retrieves", "formula"]
    assert [line.split()[0] for line in lines[1:]] == list(METHODS)
    row = next(line for line in lines if line.startswith("center "))
    assert all(part in row for part in ("Wen et al.", "2016", "floats (l2)", "CE + w/2 |f - c_y|^2"))


def test_json_holds_what_a_program_needs() -> None:
    found = json.loads(done("methods", "--json"))
    assert list(found) == list(METHODS)
    assert found["center"]["parameters"] == {"center_weight": 0.1}
    assert found["center"]["needs"] == ["labels"]
