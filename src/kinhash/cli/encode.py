"""`kinhash encode`: pictures or embeddings to a folder of codes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kinhash.cli.data_option import PARTS, root_option
from kinhash.cli.encode_floats import save_vectors
from kinhash.cli.talk import (
    device_option,
    json_option,
    plain_warnings,
    print_json,
    quiet_option,
    tell_left_out,
)
from kinhash.errors import InputError
from kinhash.items import CodedItems

if TYPE_CHECKING:
    from kinhash.data.splits import Split


@click.command()
@click.argument("encoder", type=click.Path(path_type=Path))
@click.argument("things", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the codes.")
@click.option(
    "--part",
    type=PARTS,
    help="THINGS is one data set, as for `kinhash train`: encode this part of it, with its labels.",
)
@root_option
@click.option("--floats", is_flag=True, help="Also write floats.npy: the numbers whose signs are the bits.")
@click.option("--bits", type=int, help="Refuse an encoder of any other code length.")
@click.option("--batch", default=256, show_default=True)
@click.option("--flip", is_flag=True, help="Average over every picture and its mirror image.")
@click.option("--half", is_flag=True, help="Compute in bfloat16.")
@click.option("--workers", default=0, help="Threads that decode pictures.  [default: one per core]")
@device_option
@quiet_option
@json_option
def command(
    encoder: Path,
    things: tuple[str, ...],
    out: Path,
    part: str | None,
    root: Path | None,
    floats: bool,
    bits: int | None,
    batch: int,
    flip: bool,
    half: bool,
    workers: int,
    device: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the codes that ENCODER, a folder, makes of THINGS: pictures, folders of pictures, one npy file of embeddings.

    OUT receives codes.json with an npy file of bytes, and items.csv with the id (the path) of every code; of a method that
    makes no codes, vectors.npy and vectors_labels.npy. A picture that cannot be read is named on stderr and left out.
    """
    import kinhash as kh

    with plain_warnings():
        split = _split(things, part, root)
        loaded = kh.load_encoder(encoder, bits=bits, device=device)
        made = loaded.encode_all(
            split, batch=batch, flip=flip, half=half, workers=workers, progress=not quiet
        )
    labels = None
    if split.labels is not None:
        labels = [split.classes[label] for label in split.labels[made.positions]]
    if loaded.retrieves == "floats":
        told, said = save_vectors(made, labels, out)
    else:
        CodedItems(made.codes, made.ids, labels, made.floats if floats else None).save(out)
        told = {"codes": str(out), "n": len(made.codes), "bits": made.codes.bits}
        said = f"{out}: {len(made.codes)} codes of {made.codes.bits} bits"
    broken = [*split.broken, *made.broken]
    left_out = tell_left_out(broken)
    if as_json:
        print_json({**told, "broken": left_out})
        return
    click.echo(f"{said}, {len(broken)} pictures left out")


def _split(things: Sequence[str], part: str | None, root: Path | None) -> Split:
    import kinhash as kh
    from kinhash.data.anything import as_split

    if part is None:
        if root is not None:
            raise InputError(
                "--root belongs to a data set by name: say with --part which part of it is wanted"
            )
        return as_split(things[0]) if len(things) == 1 else as_split(_files(things))
    if len(things) > 1:
        raise InputError(f"--part concerns one data set, got {len(things)} things")
    data = kh.dataset(things[0]) if root is None else kh.dataset(things[0], root)
    if part == "all":
        return data.whole()
    return data.train if part == "train" else data.test


def _files(things: Sequence[str]) -> list[Path]:
    """Several pictures and folders as one list of pictures."""
    from kinhash.data.walking import pictures_below

    found: list[Path] = []
    for thing in map(Path, things):
        if thing.suffix == ".npy":
            raise InputError(
                f"{thing} holds numbers: several things at once can only be pictures and folders"
            )
        found += pictures_below(thing) if thing.is_dir() else [thing]
    if len(set(found)) != len(found):
        raise InputError("a picture is named twice: every item needs an id of its own")
    return found
