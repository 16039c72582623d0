"""`--data`, `--part`, `--root`: a part of a data set on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kinhash.data.splits import Split

PARTS = click.Choice(["train", "test", "all"])
root_option = click.option(
    "--root", type=click.Path(path_type=Path), help="Folder of a data set that is given by name."
)


def part_of(data: str, part: str, root: Path | None) -> Split:
    """ "train", "test" or "all" of the data set that is called `data`, or lies there."""
    import kinhash as kh

    found = kh.dataset(data) if root is None else kh.dataset(data, root)
    if part == "all":
        return found.whole()
    return found.train if part == "train" else found.test
