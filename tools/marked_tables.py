"""Tables of documents, written between markers from `results/`, so that no number is typed by hand.

A marker line `<!-- measured: NAME -->` opens a table, `<!-- end -->` closes it. A table whose result files are not there
yet says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from result_files import Result

Tables = Mapping[str, Callable[[Sequence[Result]], str]]
_MARKED = re.compile(r"(<!-- measured: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, tables: Tables, results: Sequence[Result]) -> str:
    """`text` with every marked table written anew."""

    def one(match: re.Match[str]) -> str:
        return f"{match[1]}{tables[match[2]](results)}\n{match[3]}"

    return _MARKED.sub(one, text)


def names(text: str) -> set[str]:
    """The tables that `text` marks."""
    return {match[2] for match in _MARKED.finditer(text)}


def one_file(results: Sequence[Result], topic: str, name: str) -> Result | None:
    """The file of that topic and name, where there is one."""
    return next((result for result in results if (result.topic, result.name) == (topic, name)), None)
