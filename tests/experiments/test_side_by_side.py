from __future__ import annotations

import sys
from pathlib import Path

import pytest
from side_by_side import run_all


def command(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_runs_side_by_side_and_says_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meet = (
        "import pathlib, sys, time; mine, other = map(pathlib.Path, sys.argv[1:]); mine.touch()\n"
        "while not other.exists(): time.sleep(0.01)"
    )
    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    commands = {
        "one": [*command(meet), first, second],  # ends only if the other runs at the same time
        "two": [*command(meet), second, first],
        "bad": command("raise ValueError('what went wrong')"),
    }
    fates = run_all(commands, processes=2, logs=tmp_path / "logs", expected=lambda name: 0.0, minutes=1)
    assert fates == {"one": "done", "two": "done", "bad": "failed"}
    assert "what went wrong" in (tmp_path / "logs" / "bad.log").read_text()
    assert "what went wrong" in capsys.readouterr().out


def test_starts_nothing_that_would_not_finish(tmp_path: Path) -> None:
    commands = {name: command("pass") for name in ("long", "short")}
    seconds = {"long": 90.0, "short": 20.0}
    fates = run_all(commands, processes=1, logs=tmp_path, expected=seconds.__getitem__, minutes=1)
    assert fates == {"long": "left", "short": "done"}
    assert run_all({}, processes=1, logs=tmp_path, expected=seconds.__getitem__) == {}
