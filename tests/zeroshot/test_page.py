"""docs/zero-shot.md runs from top to bottom, and names every method."""

from __future__ import annotations

from pages import page, run_in_order

from kinhash.zeroshot import ZERO_SHOT


def test_the_page_runs_and_names_every_method() -> None:
    run_in_order("zero-shot")
    for name in ZERO_SHOT:
        assert f"| `{name}` |" in page("zero-shot")
