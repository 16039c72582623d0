"""Commands as the tests give them."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from kinhash.cli import cli
from kinhash.errors import KinhashError


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def done(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def refused(*arguments: Any) -> str:
    """The sentence with which a command stops."""
    result = run(*arguments)
    assert isinstance(result.exception, KinhashError), (result.output, result.exception)
    return str(result.exception)
