"""The Containerfile holds together: what it copies, installs and starts exists. Nothing is built: that needs an engine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import click
import pytest

from kinhash.cli import cli

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LINES = [
    line
    for line in (ROOT / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]


def said(word: str) -> list[str]:
    """What follows a word at the beginning of lines."""
    return [line.removeprefix(word).strip() for line in LINES if line.startswith(f"{word} ")]


def test_what_it_copies_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".containerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    sources = {name for line in said("COPY") for name in line.split()[:-1]}
    assert sources == kept
    for name in sources:
        assert (ROOT / name).exists(), name
    needed = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src"}
    assert needed <= sources, "the wheel could not be built"


def test_python_and_extras_are_those_of_the_project() -> None:
    options = dict(line.split("=") for line in said("ARG"))
    assert set(options["EXTRAS"].split(",")) <= set(PROJECT["optional-dependencies"])
    assert f"Programming Language :: Python :: {options['PYTHON']}" in PROJECT["classifiers"]
    assert all(":${PYTHON}-slim" in line for line in said("FROM"))


def test_it_runs_without_rights() -> None:
    users = said("USER")
    assert users == ["kinhash"]
    assert any("useradd" in line and users[0] in line for line in said("RUN"))
    last = [line.split()[0] for line in LINES]
    assert last.index("USER") > max(i for i, word in enumerate(last) if word == "RUN")


def test_the_command_that_it_starts_is_one() -> None:
    [program] = json.loads(said("ENTRYPOINT")[0])
    assert program in PROJECT["scripts"]
    name, *arguments = json.loads(said("CMD")[0])
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    found = command.make_context(name, arguments).params
    assert (found["host"], found["port"]) == ("0.0.0.0", int(said("EXPOSE")[0]))
    assert str(found["cache"]).startswith(said("VOLUME")[0])


@pytest.fixture
def health() -> Iterator[tuple[str, list[int]]]:
    """A server whose /health answers with the status that the list holds."""
    status = [200]

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status[0] if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}", status
        server.shutdown()
        thread.join()


def test_the_health_check_sees_a_sick_server(health: tuple[str, list[int]]) -> None:
    address, status = health
    [line] = said("HEALTHCHECK")
    program, *arguments = json.loads(re.search(r"CMD (\[.*\])", line)[1])  # type: ignore[index]
    assert program == "python"
    arguments = [one.replace(f"127.0.0.1:{said('EXPOSE')[0]}", address) for one in arguments]
    for answer, expected in ((200, True), (503, False)):
        status[0] = answer
        done = subprocess.run([sys.executable, *arguments], capture_output=True, timeout=60, check=False)
        assert (done.returncode == 0) is expected
