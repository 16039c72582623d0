"""`kinhash completion`: the script that makes a shell complete commands, options and file names."""

from __future__ import annotations

import click

_VARIABLE = "_KINHASH_COMPLETE"  # click looks at it when the program `kinhash` starts


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print what makes SHELL complete commands, options, choices and file names after the tabulator.

    \b
    Add one line to the file that the shell reads when it starts:
      ~/.bashrc                    eval "$(kinhash completion bash)"
      ~/.zshrc                     eval "$(kinhash completion zsh)"
      ~/.config/fish/config.fish   kinhash completion fish | source
    """
    from click.shell_completion import get_completion_class

    from kinhash.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "kinhash", _VARIABLE)
    click.echo(script.source_template % script.source_vars())
