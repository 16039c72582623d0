"""A figure inside a page, and the same as files."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kinhash.errors import StorageError
from kinhash.files import replace_file
from kinhash.pages.markup import Html, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("png", "svg")


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with the name of its files, and what it shows in words, for those who do not see it."""

    name: str
    figure: Figure
    words: str

    def data(self, kind: str) -> bytes:
        """The bytes of a png or svg file, the same at every time."""
        file = io.BytesIO()
        fixed = {"Date": None} if kind == "svg" else {}
        self.figure.savefig(file, format=kind, dpi=150, metadata=fixed)
        return file.getvalue()

    def save(self, folder: Path) -> list[Path]:
        """Write NAME.png and NAME.svg."""
        paths = [folder / f"{self.name}.{kind}" for kind in KINDS]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path, kind in zip(paths, KINDS, strict=True):
                replace_file(path, self.data(kind))
        except OSError as error:
            raise StorageError(f"cannot write figures to {folder}: {error.strerror or error}") from error
        return paths


def figure_of(drawn: Drawn) -> Html:
    """The figure as a drawing that stays sharp, with its words below."""
    source = "data:image/svg+xml;base64," + base64.b64encode(drawn.data("svg")).decode("ascii")
    return tag(
        "figure",
        tag("img", src=source, alt=drawn.words),
        tag("figcaption", drawn.words, class_="faint"),
        class_="plot",
    )
