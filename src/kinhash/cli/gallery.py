"""`kinhash gallery`: searches as one page or picture, several encoders side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cards.names import CARD
from kinhash.cli.data_option import PARTS, part_of, root_option
from kinhash.cli.semantics_option import SPEC_HELP, read_semantics, semantics_options
from kinhash.cli.talk import (
    counted,
    device_option,
    example,
    json_option,
    plain_warnings,
    print_json,
    quiet_option,
)
from kinhash.errors import InputError

if TYPE_CHECKING:
    from kinhash.data.splits import Split
    from kinhash.pages.gallery_sources import Coded


@click.command()
@click.argument("models", metavar="[NAME=]CODES...", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="FILE.html or FILE.png; may be given several times.",
)
@click.option(
    "--pictures", type=click.Path(path_type=Path), help="Folder of pictures; ids are paths below it."
)
@click.option("--data", help="A data set, as for `kinhash train`, with pictures and what is known of them.")
@click.option("--part", type=PARTS, help="Which part of --data.  [default: all]")
@root_option
@click.option("--queries", default=6, show_default=True, help="How many queries to draw.")
@click.option("--seed", default=0, show_default=True, help="Of the draw.")
@click.option("--id", "ids", multiple=True, help="Search with this picture, in place of drawing.")
@click.option("-k", "--k", default=8, show_default=True, help="How many results each.")
@click.option("--concat", is_flag=True, help="Also show the codes of all models, one after the other.")
@click.option("--semantics", help=f"Colour by meaning: {SPEC_HELP}.")
@semantics_options
@click.option(
    "--target-vectors",
    type=click.Path(path_type=Path),
    help="Colour by the cosine of these: FILE.npy, a row for each picture of --data or --pictures.",
)
@click.option("--title", default="Gallery", show_default=True)
@click.option("--megabytes", default=20.0, show_default=True, help="The pictures of a page take no more.")
@device_option
@quiet_option
@json_option
@example("""
kinhash gallery photos-codes --pictures photos --out gallery.html
kinhash gallery labels=codes-a captions=codes-b --concat --pictures photos --out rows.html --out rows.png
kinhash gallery photos.kin --id 2019/cat.jpg -k 12 --out cat.html --json
""")
def command(
    models: tuple[str, ...],
    out: tuple[Path, ...],
    pictures: Path | None,
    data: str | None,
    part: str | None,
    root: Path | None,
    queries: int,
    seed: int,
    ids: tuple[str, ...],
    k: int,
    concat: bool,
    semantics: str | None,
    target_vectors: Path | None,
    title: str,
    megabytes: float,
    device: str | None,
    quiet: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Show what pictures find with the codes of one encoder or several: one file, readable without a network.

    CODES is a folder that `kinhash encode` wrote, an index, a folder of photos with its index, or an encoder, which then
    encodes --data or --pictures. NAME is what its rows are called.
    """
    import kinhash as kh
    from kinhash.data.embeddings import load_array
    from kinhash.pages import gallery_sources as sources

    if pictures is not None and data is not None:
        raise click.UsageError("give either --pictures or --data")
    if data is None and (part is not None or root is not None):
        raise click.UsageError("--part and --root belong to --data")
    named = named_places(models)
    with plain_warnings():
        split = _pictures(pictures, data, part, root)
        coded = {name: _coded(place, split, device, quiet) for name, place in named.items()}
    if split is None:
        split = sources.pictures_of(coded)
    codes, shown, rows = sources.aligned(coded, split)
    if len(shown) < len(split):
        click.echo(
            f"kinhash: {len(split) - len(shown)} of {len(split)} pictures lack a code: left out", err=True
        )
    meaning = None if semantics is None else read_semantics(semantics, shown.classes, choices)
    made = kh.gallery(
        codes,
        shown,
        queries=list(ids) or queries,
        k=k,
        seed=seed,
        semantics=meaning,
        target_vectors=None
        if target_vectors is None
        else _rows_of(load_array(target_vectors), rows, len(split)),
        concat=concat,
    )
    for path in out:
        made.save(path, title=title, megabytes=megabytes)
    if as_json:
        print_json({"out": [str(path) for path in out], **made.to_dict()})
        return
    for path in out:
        size = f"{path.stat().st_size / 1e6:.1f} MB"
        click.echo(
            f"{path}: {counted(len(made.found) * len(made.bits), 'row')} for {counted(len(made.found), 'picture')}, {size}"
        )


def named_places(models: tuple[str, ...]) -> dict[str, Path]:
    """NAME=PLACE, or a place that is called after itself."""
    found: dict[str, Path] = {}
    for model in models:
        name, equals, rest = model.partition("=")
        place = Path(model) if not equals or Path(model).exists() else Path(rest)
        name = place.name or str(place) if str(place) == model else name
        if name in found:
            raise InputError(f"two models are called {name!r}: write NAME=CODES with a name for each")
        found[name] = place
    return found


def _pictures(pictures: Path | None, data: str | None, part: str | None, root: Path | None) -> Split | None:
    from kinhash.data.anything import as_split

    if pictures is not None:
        return as_split(pictures)
    return None if data is None else part_of(data, part or "all", root)


def _coded(place: Path, split: Split | None, device: str | None, quiet: bool) -> Coded:
    import kinhash as kh
    from kinhash.pages.gallery_sources import Coded, read_coded

    if not (place / CARD).is_file():
        return read_coded(place)
    if split is None:
        raise InputError(f"{place} is an encoder: say what it shall encode with --pictures or --data")
    made = kh.load_encoder(place, device=device).encode_all(split, progress=not quiet)
    return Coded(made.ids, made.codes)


def _rows_of(array: Any, rows: Any, n: int) -> Any:
    if len(array) != n:
        raise InputError(f"--target-vectors holds {len(array)} rows for {n} pictures: one each is needed")
    return array[rows]
