"""The progress bar: on stderr, with count and rate, and gone in the end; or nothing at all."""

from __future__ import annotations

import pytest

from kinhash.bar import bar


def test_it_counts_and_tells_the_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with bar("photos", 40) as advance:
        advance(16)
        advance(16)
    out, err = capsys.readouterr()
    assert out == ""
    for part in ("photos", "32/40"):
        assert part in err


def test_it_can_be_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("photos", 40, show=False) as advance:
        advance(16)
    assert capsys.readouterr() == ("", "")
