"""Text stays text, whatever it holds."""

from __future__ import annotations

import pytest

from kinhash.pages.markup import Html, escaped, joined, tag


def test_text_is_escaped_and_markup_is_not() -> None:
    made = tag("p", "<b>&\"'", tag("b", "x"), None, class_='a"b', data_id=3, hidden=True, title=None)
    assert made == ('<p class="a&quot;b" data-id="3" hidden>&lt;b&gt;&amp;&quot;&#x27;<b>x</b></p>')
    assert tag("br") == "<br>"
    assert isinstance(joined(made, "<"), Html)
    assert joined("<", Html("<")) == "&lt;<"


def test_an_element_may_have_a_name() -> None:
    assert tag("meta", name="viewport") == '<meta name="viewport">'


@pytest.mark.parametrize("bad", ["\0", "\x1b", "\udcff", "\u202e", "\u2066", "\x85"])
def test_characters_that_no_page_may_hold_are_replaced(bad: str) -> None:
    assert escaped(f"a{bad}b") == "a\ufffdb"
    assert escaped(f"a{bad}b").encode()


def test_letters_of_all_kinds_stay() -> None:
    assert escaped("naïve 猫 🦊\n\tא") == "naïve 猫 🦊\n\tא"
