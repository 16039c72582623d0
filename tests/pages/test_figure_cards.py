"""Cards are bounded, whatever a caption holds."""

from __future__ import annotations

import numpy as np

from kinhash.pages.figure_cards import Card, card, shortened
from kinhash.pages.thumbnails import thumbnail


def test_text_is_one_line_of_bounded_length() -> None:
    assert shortened("a\n\n  b\tc") == "a b c"
    assert shortened("x" * 400) == "x" * 400
    assert shortened("x" * 401) == "x" * 400 + "…"
    assert len(shortened("y " * 1_000_000)) <= 401


def test_a_card_stays_small() -> None:
    small = thumbnail(np.zeros((4, 4, 3), np.uint8))
    content = Card(small, "z" * 10**6, "head", ["w" * 10**6, None, ""] * 1000, "n" * 10**6)
    made = card(content)
    assert len(made) < 6000
    assert made.count("www…") == 6
    assert "--near" not in made
    assert "--near: rgb(" in card(Card(small, "a", "h", [], "n", similarity=0.5))
