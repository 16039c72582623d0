"""Every example of docs/semantics.md runs and prints what the page says; every option of the face is explained."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import kinhash as kh
from kinhash.meaning.hierarchy import VARIANTS
from kinhash.meaning.tables import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text()


def test_examples() -> None:
    text = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/semantics.md", None, 0)
    assert len(test.examples) > 10
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("word", [*VARIANTS, *TABLES, *list(inspect.signature(kh.semantics).parameters)[2:]])
def test_every_option_is_explained(word: str) -> None:
    assert re.search(rf"`[^`\n]*\b{word}\b[^`\n]*`", PAGE), word
