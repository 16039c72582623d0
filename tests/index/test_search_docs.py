"""Every example of docs/search.md runs and prints what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "search.md").read_text()


def test_examples() -> None:
    text = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/search.md", None, 0)
    assert len(test.examples) > 8
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert result.failed == 0, "".join(said)
