"""The page of all commands: what `kinhash COMMAND --help` prints, for every command."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kinhash.cli import cli


def page() -> str:
    """Markdown, one section for every command."""
    sections = [
        f"## {path}\n\n```text\n{shown}\n```\n"
        for path, shown in helps(cli, click.Context(cli, info_name="kinhash"))
    ]
    return "# All options\n\nWhat `kinhash COMMAND --help` prints.\n\n" + "\n".join(sections)


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """('kinhash index add', its help) and so on, groups before their commands."""
    context.max_content_width = context.terminal_width = 100
    yield context.command_path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from helps(found, click.Context(found, info_name=name, parent=context))
