"""The script for the shell, and what it gets when it asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from cli.commands import done


def asked(words: str, at: int) -> list[str]:
    """What bash is offered for a word."""
    found = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['kinhash']\nfrom kinhash.cli import main; main()"],
        env={**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(at), "_KINHASH_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.split(",", 1)[1] for line in found.stdout.splitlines()]


def test_commands_options_and_choices_are_offered() -> None:
    assert asked("kinhash se", 1) == ["search", "serve"]
    assert asked("kinhash photos --no", 2) == ["--no-serve"]
    assert asked("kinhash completion z", 2) == ["zsh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_can_read(shell: str) -> None:
    script = done("completion", shell)
    assert f"_KINHASH_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
