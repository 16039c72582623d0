"""The docs site builds without a warning, holds every page, name and command; every page with examples has a test."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import site_api
import site_commands
import yaml
from cli.walk import leaves

import kinhash as kh

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# lines that belong into the files of a shell; the demo, which has tests of its own
WITHOUT_A_TEST = {"commands", "index"}


def pages_of(nav: Any) -> Iterator[str]:
    """The addresses in a navigation, at any depth."""
    if isinstance(nav, str):
        yield nav
        return
    for part in nav.values() if isinstance(nav, dict) else nav:
        yield from pages_of(part)


def test_every_page_is_in_the_navigation_once() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    listed = list(pages_of(nav))
    assert len(set(listed)) == len(listed)
    missing = {path.name for path in DOCS.glob("*.md")} - set(listed)
    assert not missing, f"put into the navigation of mkdocs.yml: {sorted(missing)}"


def test_every_public_name_is_in_the_reference_once() -> None:
    shown = [name for _, names in site_api.PAGES.values() for name in names]
    assert sorted(shown) == sorted(set(kh.__all__) - {"__version__"})


@pytest.mark.parametrize("name", [name for _, names in site_api.PAGES.values() for name in names])
def test_every_public_name_and_method_says_what_it_does(name: str) -> None:
    thing = getattr(kh, name)
    assert len(inspect.getdoc(thing) or "") > 10, name
    silent = (
        [member for member, value in site_api.members(thing) if not inspect.getdoc(value)]
        if inspect.isclass(thing)
        else []
    )
    assert not silent, f"{name} has methods without a docstring: {silent}"
    assert f"\n## {name}\n" in "\n" + site_api.entry(name, thing)


def test_signatures_are_shown_as_written() -> None:
    def long(
        first: dict[str, int], *, second: tuple[int, str] = (1, "a, b"), third_which_is_long: str = "x"
    ) -> list[int]:
        """Says."""

    def short(a: int) -> None:
        """Says.

        >>> 1 + 1
        2
        """

    assert "kh.Codes(words: NDArray[np.uint64], bits: int)\n" in site_api.entry("Codes", kh.Codes)
    assert "kh.short(a: int) -> None\n" in site_api.entry("short", short)
    assert "```python\n>>> 1 + 1\n2\n```" in site_api.entry("short", short)
    assert (
        "kh.long(\n    first: dict[str, int],\n    *,\n    second: tuple[int, str] = (1, 'a, b'),\n"
        "    third_which_is_long: str = 'x',\n) -> list[int]\n"
    ) in site_api.entry("long", long)


def test_every_command_is_in_the_reference() -> None:
    text = site_commands.page()
    for name, command in leaves():
        assert f"## kinhash {name}\n" in text
        for option in command.params:
            assert option.opts[-1] in text or option.human_readable_name in text


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """In strict mode: every link and anchor leads somewhere, every page is in the navigation."""
    build = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "reference" / "training.html").read_text()
    assert "Learn codes of" in page
    foreign = [
        address
        for path in (tmp_path / "site").rglob("*.html")
        for address in re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', path.read_text()
        )
    ]
    assert not foreign, "pages load nothing from elsewhere"


def test_every_page_with_examples_has_a_test_that_runs_them() -> None:
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    run = set(re.findall(r'\b(?:run_in_order|check_examples|run_page|blocks|page)\("([\w-]+)"', tests))
    run |= set(re.findall(r'"docs" / "([\w-]+)\.md"', tests))
    for path in sorted(DOCS.glob("*.md")):
        has_examples = re.search(r"^```(python|sh|console)$", path.read_text(), re.MULTILINE)
        if has_examples and path.stem not in WITHOUT_A_TEST:
            assert path.stem in run, f"docs/{path.name} has examples, and no test runs them"
