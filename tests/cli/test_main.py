"""The entry point: what a shell sees of success, of mistakes and of interruptions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kinhash.cli import main


def ended(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code."""
    monkeypatch.setattr(sys, "argv", ["kinhash", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_help_lists_every_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, "--help") == 0
    out = capsys.readouterr().out
    for name in ("train", "encode", "evaluate", "export"):
        assert f"  {name} " in out
        assert ended(monkeypatch, name, "--help") == 0
        assert f"kinhash {name} [OPTIONS]" in capsys.readouterr().out


def test_an_error_is_one_sentence_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ended(monkeypatch, "encode", str(tmp_path), "x.png", "--out", str(tmp_path / "c")) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "kinhash: there is no file or folder x.png\n"


def test_a_wrong_option_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, "train", "cifar100", "--bitts", "64") == 2
    assert "Did you mean '--bits'" in capsys.readouterr().err


def test_an_interruption_is_exit_code_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    # this first: the lazy name would remember the other's stand-in
    monkeypatch.setattr("kinhash.dataset", interrupted)
    monkeypatch.setattr("kinhash.data.datasets.dataset", interrupted)
    assert ended(monkeypatch, "train", "cifar100", "--out", str(tmp_path)) == 130
    assert "interrupted" in capsys.readouterr().err
