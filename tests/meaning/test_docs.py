"""Every example of docs/semantics.md runs and prints what the page says; every option of the face is explained."""

from __future__ import annotations

import inspect
import re

import pytest
from pages import check_examples, page

import kinhash as kh
from kinhash.meaning.hierarchy import VARIANTS
from kinhash.meaning.tables import TABLES


def test_examples() -> None:
    check_examples("semantics", more_than=10)


@pytest.mark.parametrize("word", [*VARIANTS, *TABLES, *list(inspect.signature(kh.semantics).parameters)[2:]])
def test_every_option_is_explained(word: str) -> None:
    assert re.search(rf"`[^`\n]*\b{word}\b[^`\n]*`", page("semantics")), word
