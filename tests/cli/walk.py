"""All commands, found by asking the group: a new one is covered as soon as it exists."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from kinhash.cli import cli


def leaves(command: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """('index add', command) and so on; groups themselves are left out."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None, f"{name} is listed and does not exist"
        yield from leaves(found, (*path, name))


def options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def flags(command: click.Command) -> set[str]:
    return {flag for option in options(command) for flag in option.opts}


def source(command: click.Command) -> str:
    """The file that a command is written in."""
    assert command.callback is not None
    return Path(inspect.getsourcefile(inspect.unwrap(command.callback)) or "").read_text(encoding="utf-8")
