"""What the commands around an index share: ids from the command line, encoders, arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.index.index import Index
    from kinhash.models.encoder import HashEncoder


def as_ids(index: Index, names: Iterable[Any]) -> list[Any]:
    """Texts become numbers where the ids of the index are numbers; everything else is left as it is."""
    if index.ids_kind != "int":
        return list(names)
    return [_number(name) if isinstance(name, str) else name for name in names]


def _number(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise InputError(f"the ids of this index are integers, got {name!r}") from None


def fitting_encoder(folder: Path, index: Index, device: str | None) -> HashEncoder:
    """An encoder whose codes fit the index."""
    import kinhash as kh

    encoder = kh.load_encoder(folder, device=device)
    if encoder.bits != index.bits:
        raise InputError(
            f"the encoder {folder} makes codes of {encoder.bits} bits, the index {index.path} holds {index.bits} bits: "
            "use the encoder that the index was made with"
        )
    return encoder


class IndexPath(click.Path):
    """The folder of an index; a folder of photos stands for the index that `kinhash photos` made of it."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from kinhash.album.place import index_at

        return index_at(Path(os.fsdecode(super().convert(value, param, ctx))))


index_argument = click.argument("index", type=IndexPath())
where_option = click.option(
    "--where",
    metavar="FILTER",
    help="Only items whose metadata pass, such as 'year >= 2010 and label = \"cat\"'.",
)
