"""docs/serve.md: its Python and its commands give what it says, its limits are those of the code."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pages import blocks, page
from serving.colours import Colours, colour_index

import kinhash as kh
from kinhash.cli import cli
from kinhash.serving import asked, limits, pictures, protocol, routes, thumbnails
from kinhash.serving.app import UPLOAD, Settings, create_app
from kinhash.serving.batching import Batcher
from kinhash.serving.openapi import description
from kinhash.serving.running import running
from kinhash.serving.served import served

ADDRESS = "http://127.0.0.1:8080"
COMMANDS = re.findall(r"^\$ (.+)\n(.*)$", page("serve"), re.MULTILINE)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that holds what the page speaks of, and where its index is served."""
    folder = tmp_path_factory.mktemp("docs")
    colour_index(folder).rename(folder / "photos.kin")
    (folder / "pictures").rename(folder / "photos")
    one = served("photos", folder / "photos.kin", Colours(), folder / "photos")
    with running(create_app([one], Settings(cache=folder / "cache"))) as url:
        yield folder, url


def test_the_python(address: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, url = address
    monkeypatch.chdir(folder)
    text = "\n".join(blocks("serve")).replace(ADDRESS, url)
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/serve.md", None, 0)
    assert len(test.examples) > 10
    said: list[str] = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize(("command", "output"), [pair for pair in COMMANDS if pair[0].startswith("curl")])
def test_requests_with_curl(address: tuple[Path, str], command: str, output: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    folder, url = address
    words = shlex.split(command.replace(ADDRESS, url))
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == output


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    [(command, output)] = [pair for pair in COMMANDS if not pair[0].startswith("curl")]
    calls: list[Any] = []

    def serve(*arguments: Any, ready: Any, **options: Any) -> None:
        calls.append((arguments, options))
        ready(f"http://{options['host']}:{options['port']}")

    monkeypatch.setattr(kh, "serve", serve, raising=False)
    done = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert done.output == output + "\n"
    assert len(calls) == 1


def test_what_it_says_of_limits_and_options_holds() -> None:
    text = page("serve")
    figures = {
        "at most 10,000": asked.MOST_K == 10_000,
        "up to 1,024 codes": asked.MOST_QUERIES == 1024,
        "(32 MB; json 4 MB)": UPLOAD == 32 * 2**20 and routes.JSON_LIMIT == 4 * 2**20,
        "above 80 million pixels": pictures.MOST_PIXELS == 80_000_000,
        "within a minute": limits.SECONDS == 60,
        "a pause of 10 seconds": limits.PAUSE == 10,
        "within 15 seconds": protocol.HEAD_SECONDS == 15,
        "more than 8,192 queries": Batcher.__init__.__kwdefaults__["most_waiting"] == 8192,
        "up to 512 MB": thumbnails.Cache.__init__.__defaults__ == (512 * 2**20,),  # type: ignore[misc]
    }
    for words, holds in figures.items():
        assert words in text.replace("\n", " ")
        assert holds, words
    options = CliRunner().invoke(cli, ["serve", "--help"]).output
    for option in set(re.findall(r"(?<!-)--[a-z][a-z-]+", text)) - {"--data-binary"}:
        assert option in options, option
    paths = description()["paths"]
    for method, path in re.findall(r"`(GET|POST) (/[^`?]*)", text):
        assert method.lower() in paths[path]
