"""`kinhash search`: the items nearest to pictures, to items of the index, or to codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cli.index_talk import (
    as_ids,
    example,
    fitting_encoder,
    index_argument,
    where_option,
)
from kinhash.cli.talk import device_option, json_option, print_json
from kinhash.errors import FormatError

if TYPE_CHECKING:
    from kinhash.codes import Codes
    from kinhash.index.index import Index

Hit = tuple[Any, int]  # id, distance


@click.command()
@index_argument
@click.option(
    "--image", "images", multiple=True, type=click.Path(path_type=Path), help="A picture; needs --encoder."
)
@click.option("--id", "ids", multiple=True, help="An item of the index; it is left out of its own answer.")
@click.option("--code", "codes", multiple=True, help="A code in hexadecimal digits.")
@click.option("--encoder", type=click.Path(path_type=Path), help="Folder of the encoder that made the index.")
@click.option("-k", "--k", type=int, help="How many items to find.  [default: 10]")
@click.option("--radius", type=int, help="Find all items within this Hamming distance instead.")
@where_option
@device_option
@json_option
@example("""
kinhash search photos.kin --image cat.jpg --encoder run/encoder
kinhash search photos.kin --id 2019/cat.jpg -k 5 --where 'year >= 2010'
kinhash search photos.kin --code 0f1e2d3c4b5a6978 --radius 6 --json
""")
def command(
    index: Path,
    images: tuple[Path, ...],
    ids: tuple[str, ...],
    codes: tuple[str, ...],
    encoder: Path | None,
    k: int | None,
    radius: int | None,
    where: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Find the items of INDEX nearest to pictures, to items of its own, or to codes; ties in the order of the ids.

    One line per hit: distance, id, metadata as json. With several queries, the name of each stands before its hits.
    """
    import kinhash as kh

    if not (images or ids or codes):
        raise click.UsageError("say what to search for: --image, --id or --code")
    if images and encoder is None:
        raise click.UsageError("--image needs --encoder FOLDER")
    if k is not None and radius is not None:
        raise click.UsageError("give either -k or --radius")
    answers = []
    with kh.Index.open(index, read_only=True) as opened:
        for name, query, own in _queries(opened, images, ids, codes, encoder, device):
            hits = _hits(opened, query, own, k, radius, where)
            items = opened.get([found for found, _ in hits]).metadata if hits else []
            answers.append((name, [(*hit, item) for hit, item in zip(hits, items, strict=True)]))
    if as_json:
        print_json(
            {
                "index": str(index),
                "answers": [{"query": name, "hits": _cards(hits)} for name, hits in answers],
            }
        )
        return
    for name, found in answers:
        if len(answers) > 1:
            click.echo(f"# {name}")
        for item, distance, metadata in found:
            click.echo(f"{distance}\t{item}\t{json.dumps(metadata, ensure_ascii=False)}")


def _queries(
    index: Index,
    images: tuple[Path, ...],
    ids: tuple[str, ...],
    codes: tuple[str, ...],
    encoder: Path | None,
    device: str | None,
) -> list[tuple[str, Codes, Any]]:
    """(name, code, the id of the item that it belongs to or None) of every query."""
    import kinhash as kh

    queries: list[tuple[str, Codes, Any]] = []
    if images and encoder is not None:
        model = fitting_encoder(encoder, index, device)
        for image in images:
            made = model.encode_all(image)
            if made.broken:
                raise FormatError(f"{image} cannot be read: {made.broken[0].reason}")
            queries += [(str(image), code, None) for code in made.codes]
    for name in as_ids(index, ids):
        queries.append((str(name), index.get(name).codes, name))
    queries += [(code, kh.Codes.from_hex([code], index.bits), None) for code in codes]
    return queries


def _hits(
    index: Index, query: Codes, own: Any, k: int | None, radius: int | None, where: str | None
) -> list[Hit]:
    """(id, distance) in order; `own` is left out."""
    if radius is not None:
        ids, distances = index.within(query, radius, where=where)[0]
        wanted = len(ids)
    else:
        wanted = 10 if k is None else k
        asked = wanted + 1 if own is not None and wanted > 0 else wanted
        ids, distances = index.search(query, asked, where=where, fewer=True)[0]
    found = zip(ids.tolist(), distances.tolist(), strict=True)
    return [hit for hit in found if own is None or hit[0] != own][:wanted]


def _cards(hits: list[tuple[Any, int, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [{"id": item, "distance": distance, "metadata": metadata} for item, distance, metadata in hits]
