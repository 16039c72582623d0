"""Pages of docs/ and the examples in them."""

from __future__ import annotations

import doctest
import re
from pathlib import Path


def page(name: str) -> str:
    """The text of docs/<name>.md."""
    return (Path(__file__).parents[1] / "docs" / f"{name}.md").read_text()


def blocks(name: str) -> list[str]:
    """Its examples in Python."""
    return re.findall(r"```python\n(.*?)```", page(name), re.DOTALL)


def check_examples(name: str, more_than: int) -> None:
    """Every example, one after the other, prints what the page says."""
    test = doctest.DocTestParser().get_doctest("\n".join(blocks(name)), {}, f"docs/{name}.md", None, 0)
    assert len(test.examples) > more_than
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert result.failed == 0, "".join(said)
