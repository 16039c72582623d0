"""Writes the table of docs/methods.md from METHODS.

python tools/method_table.py            # write
python tools/method_table.py --check    # 1 if the page is not what METHODS says
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from kinhash.methods import METHODS, Method

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
_MARKED = re.compile(r"(<!-- methods -->\n).*?(<!-- end -->)", re.DOTALL)
_TITLES = ("method", "what it does", "paper", "retrieves", "needs", "formula", "parameters")


def rows() -> list[str]:
    """The lines of the table."""
    lines = [f"| {' | '.join(_TITLES)} |", "|" + "---|" * len(_TITLES)]
    return lines + [f"| {' | '.join(_cells(name, method))} |" for name, method in METHODS.items()]


def filled(text: str) -> str:
    """The page with its table written anew."""
    table = "\n".join(rows())
    return _MARKED.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)


def _cells(name: str, method: Method) -> tuple[str, ...]:
    formula = method.formula.replace("|", "\\|")
    own = ", ".join(f"`{key}={value}`" for key, value in method.parameters.items())
    return (
        f"`{name}`",
        method.about,
        f"{method.paper} {method.year}",
        method.retrieval(name).shown,
        ", ".join(sorted(method.needs)) or "nothing",
        f"`{formula}`",
        own,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    old = PAGE.read_text(encoding="utf-8")
    new = filled(old)
    if parser.parse_args().check:
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
