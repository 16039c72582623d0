"""What mkdocs.yml calls: pages of the site that are made rather than written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import site_api
import site_commands
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).parents[1]
PAPERS = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "results.md": "RESULTS.md"}


def made() -> dict[str, str]:
    """Address -> content."""
    return {
        "reference/cli.md": site_commands.page(),
        **{f"reference/{name}.md": site_api.page(name) for name in site_api.PAGES},
        **{name: _paper((ROOT / source).read_text(encoding="utf-8")) for name, source in PAPERS.items()},
        "css/site.css": _style(),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs: add what is made."""
    for name, content in made().items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Called by MkDocs: what a reader of the repository finds in the root, or by a path, has an address of its own here."""
    if "/" in page.file.src_uri:
        return markdown
    for name, source in PAPERS.items():
        markdown = markdown.replace(f"](../{source}", f"]({name}")
    return re.sub(r"`docs/([\w-]+)\.md`", r"[\1](\1.md)", markdown)


def _paper(text: str) -> str:
    """A file of the root, seen from docs/."""
    return re.sub(r"\]\(docs/", "](", text)


def _style() -> str:
    """Colours of code, on light and on dark pages; long names do not leave their column."""
    light = HtmlFormatter(style="default").get_style_defs(".codehilite")
    dark = HtmlFormatter(style="github-dark").get_style_defs("[data-bs-theme=dark] .codehilite")
    own = ".codehilite pre { padding: 0.8em; }\n.bs-sidebar a { overflow-wrap: anywhere; }\n"
    return f"{light}\n{dark}\n{own}"
