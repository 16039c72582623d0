"""One face for all commands: help, examples, --json, --quiet, names of options, a place in the documents."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import click
import pytest
from cli.walk import flags, leaves, options, source
from click.testing import CliRunner

from kinhash.cli import cli

COMMANDS = dict(leaves())
# what they print is no result: a server says where it listens, a script is for the shell to read
WITHOUT_JSON = {"serve", "completion"}
DOCS = Path(__file__).parents[2] / "docs"
EVERY = pytest.mark.parametrize("name", list(COMMANDS))


def test_the_commands_are_found() -> None:
    assert {"photos", "train", "index add", "search", "completion"} <= set(COMMANDS)


@EVERY
def test_help_says_what_a_command_and_every_option_of_it_does(name: str) -> None:
    command = COMMANDS[name]
    assert len(command.help or "") > 40, f"kinhash {name} has no help"
    for option in options(command):
        said = option.help or (option.show_default and option.default not in (None, False))
        assert said, f"kinhash {name} {option.opts[0]} has neither help nor a default that says it all"
    shown = CliRunner().invoke(cli, [*name.split(), "--help"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("Usage: ")


@EVERY
def test_results_can_be_had_as_json(name: str) -> None:
    assert ("--json" in flags(COMMANDS[name])) != (name in WITHOUT_JSON)


@EVERY
def test_what_shows_progress_can_be_quiet(name: str) -> None:
    shows = re.search(r"\bbar\(|progress=|\bprogress\b", source(COMMANDS[name]))
    assert not shows or "--quiet" in flags(COMMANDS[name]), f"kinhash {name} shows progress without --quiet"


def test_an_option_is_the_same_thing_everywhere() -> None:
    kinds: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, command in COMMANDS.items():
        for option in options(command):
            for flag in option.opts:
                assert re.fullmatch(r"--[a-z]+(-[a-z]+)*|-[a-z]", flag), f"kinhash {name} {flag}"
                # a path is a text that shells complete; some options take a path or a name
                kind = "text" if option.type.name in ("path", "choice") else option.type.name
                kinds[flag]["flag" if option.is_flag else kind].add(name)
    unlike = {flag: dict(kind) for flag, kind in kinds.items() if len(kind) > 1}
    assert not unlike, unlike


def test_the_number_of_neighbours_is_k_and_may_have_one_dash_or_two() -> None:
    for name, command in COMMANDS.items():
        for option in options(command):
            if option.name == "k":
                assert set(option.opts) == {"-k", "--k"}, name


def test_every_command_has_a_place_in_the_documents() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    text = re.sub(r"\\\n\s*", " ", text)
    missing = [name for name in COMMANDS if not re.search(rf"\bkinhash {name}\b", text)]
    assert not missing, f"no page in docs/ mentions: {missing}"


def test_every_command_is_in_the_help_of_the_program_once() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    context = click.Context(cli)
    for name in cli.list_commands(context):
        assert len(re.findall(rf"^  {name}  ", shown, re.MULTILINE)) == 1, name


@EVERY
def test_a_wrong_option_is_exit_code_2(name: str) -> None:
    wrong = CliRunner().invoke(cli, [*name.split(), "--no-such-option"])
    assert wrong.exit_code == 2
    assert "No such option" in wrong.output
