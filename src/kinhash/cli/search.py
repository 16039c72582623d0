"""`kinhash search`: the items nearest to sentences, to pictures, to items of the index, or to codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.cards.names import CARD
from kinhash.cli.index_talk import as_ids, fitting_encoder, index_argument, where_option
from kinhash.cli.talk import device_option, example, json_option, print_json
from kinhash.errors import FormatError, InputError

if TYPE_CHECKING:
    from kinhash.codes import Codes
    from kinhash.index.index import Index
    from kinhash.models.encoder import HashEncoder

Hit = tuple[Any, int]  # id, distance
Query = tuple[str, "Codes", Any]  # name, code, the id of the item that it belongs to or None


@click.command()
@index_argument
@click.argument("queries", nargs=-1)
@click.option("--image", "images", multiple=True, type=click.Path(path_type=Path), help="A picture.")
@click.option("--id", "ids", multiple=True, help="An item of the index; it is left out of its own answer.")
@click.option("--code", "codes", multiple=True, help="A code in hexadecimal digits.")
@click.option(
    "--encoder",
    type=click.Path(path_type=Path),
    help="Folder of the encoder that made the index.  [default: the one beside it, as `kinhash photos` leaves it]",
)
@click.option("-k", "--k", type=int, help="How many items to find.  [default: 10]")
@click.option("--radius", type=int, help="Find all items within this Hamming distance instead.")
@where_option
@device_option
@json_option
@example("""
kinhash search photos.kin "two dogs in a meadow" --encoder run/encoder
kinhash search photos.kin --image cat.jpg --encoder run/encoder
kinhash search photos.kin --id 2019/cat.jpg -k 5 --where 'year >= 2010'
kinhash search photos.kin --code 0f1e2d3c4b5a6978 --radius 6 --json
""")
def command(
    index: Path,
    queries: tuple[str, ...],
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
    """Find the items of INDEX nearest to sentences, pictures, items of its own, or codes; ties in the order of the ids.

    QUERIES are files of pictures; what is no file is a sentence, for an encoder that learned from captions.
    One line per hit: distance, id, metadata as json. With several queries, the name of each stands before its hits.
    """
    import kinhash as kh

    if not (queries or images or ids or codes):
        raise click.UsageError("say what to search for: a sentence or a picture, --image, --id or --code")
    if k is not None and radius is not None:
        raise click.UsageError("give either -k or --radius")
    answers = []
    with kh.Index.open(index, read_only=True) as opened:
        asked = _encoded(opened, queries, images, encoder, device)
        for name, query, own in asked + _known(opened, ids, codes):
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


def _encoded(
    index: Index, queries: tuple[str, ...], images: tuple[Path, ...], encoder: Path | None, device: str | None
) -> list[Query]:
    """What has to be encoded: pictures, and sentences, which are what is no file."""
    if not (queries or images):
        return []
    model = fitting_encoder(_encoder_of(index, encoder), index, device)
    found: list[Query] = [(str(image), _picture(model, image), None) for image in images]
    for query in queries:
        made = _picture(model, Path(query)) if is_file(query) else model.encode_text(query)
        found.append((query, made, None))
    return found


def _encoder_of(index: Index, given: Path | None) -> Path:
    beside = Path(index.path).parent / "encoder"
    if given is None and not (beside / CARD).is_file():
        raise click.UsageError(
            "pictures and sentences need --encoder FOLDER, the encoder that made the index: none lies beside it"
        )
    return beside if given is None else given


def _picture(model: HashEncoder, image: Path) -> Codes:
    if image.is_dir():
        raise InputError(f"{image} is a folder: name one picture, or several by --image each")
    made = model.encode_all(image)
    if made.broken:
        raise FormatError(f"{image} cannot be read: {made.broken[0].reason}")
    if len(made.ids) != 1:
        raise InputError(
            f"{image} holds {len(made.ids)} things, and a query is one: search with each by itself"
        )
    return made.codes


def is_file(query: str) -> bool:
    """Whether a query names a file; a sentence may be longer than any name, and one word may be a folder's, too."""
    try:
        return Path(query).is_file()
    except (OSError, ValueError):
        return False


def _known(index: Index, ids: tuple[str, ...], codes: tuple[str, ...]) -> list[Query]:
    """What has a code already: items of the index, and codes as they are."""
    import kinhash as kh

    found: list[Query] = [(str(name), index.get(name).codes, name) for name in as_ids(index, ids)]
    return found + [(code, kh.Codes.from_hex([code], index.bits), None) for code in codes]


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
