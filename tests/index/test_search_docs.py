"""Every example of docs/search.md runs and prints what the page says."""

from __future__ import annotations

from pages import check_examples


def test_examples() -> None:
    check_examples("search", more_than=8)
