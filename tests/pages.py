"""Pages of docs/ and the examples in them."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from kinhash.cli import cli


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


def command(line: str) -> None:
    """A line of the shell, in this process."""
    program, *arguments = shlex.split(line)
    if program == "pip":
        return
    assert program == "kinhash", line
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, (line, result.output, result.exception)


def run_in_order(name: str, shell: Callable[[str], None] = command) -> dict[str, object]:
    """Every command and every example, from top to bottom in one namespace, which comes back."""
    names: dict[str, object] = {}
    for kind, block in re.findall(r"```(sh|python)\n(.*?)```", page(name), re.DOTALL):
        if kind == "python":
            exec(compile(block, f"docs/{name}.md", "exec"), names)
            continue
        for line in block.replace("\\\n", " ").splitlines():
            shell(line)
    return names
