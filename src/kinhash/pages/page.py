"""The frame of every page: head, style, foot; and how a page is written."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from kinhash import __version__
from kinhash.errors import StorageError
from kinhash.files import replace_file
from kinhash.pages.markup import Html, joined, tag

# nothing may be loaded or run, whatever a caption says
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, *body: object, notes: tuple[object, ...] = ()) -> Html:
    """A whole document; `notes` stand at its end, before the size."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_style())),
    )
    main = tag("main", tag("h1", title), *body)
    foot = tag(
        "footer",
        *(tag("p", note) for note in notes if note is not None),
        tag("p", f"Made by kinhash {__version__}."),
    )
    return joined(Html("<!doctype html>\n"), tag("html", head, tag("body", main, foot), lang="en"), "\n")


def section(title: str, *body: object, name: str | None = None) -> Html:
    """A titled part of a page; `name` can be linked to."""
    return tag("section", tag("h2", title), *body, id=name)


def table(header: tuple[str, ...], rows: list[tuple[object, ...]], caption: str | None = None) -> Html:
    """A table whose first column names its rows."""
    top = tag("tr", *(tag("th", cell, scope="col") for cell in header))
    lines = (
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows
    )
    named = None if caption is None else tag("caption", caption)
    return tag("table", named, tag("thead", top), tag("tbody", *lines))


def write_page(document: Html, path: str | os.PathLike[str]) -> int:
    """Put the document at `path`, in one step; how many bytes it has."""
    path, data = Path(path), document.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise StorageError(f"cannot write the page to {path}: {error.strerror or error}") from error
    return len(data)


def _style() -> str:
    return (files("kinhash.pages") / "style.css").read_text("utf-8")
