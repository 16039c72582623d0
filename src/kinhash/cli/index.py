"""`kinhash index`: make, fill, tidy and check an index on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kinhash.cli.index_talk import (
    as_ids,
    bar,
    counted,
    device_option,
    example,
    fitting_encoder,
    index_argument,
    json_option,
    quiet_option,
)
from kinhash.cli.talk import print_json
from kinhash.errors import FormatError, KinhashError

if TYPE_CHECKING:
    from kinhash.cli.index_sources import Batch
    from kinhash.index.index import Index


@click.group()
def command() -> None:
    """Make, fill, tidy and check an index: a folder of codes with ids and metadata, searched exactly.

    Exit codes: 0 when all is done, 1 on an error (one sentence on stderr says which), 2 on a wrong command line.
    """


@command.command()
@index_argument
@click.option("--bits", type=int, required=True, help="Length of the codes.")
@click.option(
    "--ids", type=click.Choice(["int", "str"]), help="Kind of the ids.  [default: the first item decides]"
)
@json_option
@example("kinhash index create photos.kin --bits 64")
def create(index: Path, bits: int, ids: str | None, as_json: bool) -> None:
    """Make an empty index in the folder INDEX, where nothing may be yet."""
    import kinhash as kh

    kh.Index.create(index, bits, ids=ids).close()
    if as_json:
        print_json({"index": str(index), "bits": bits, "ids": ids})
    else:
        click.echo(f"{index}: an empty index for codes of {bits} bits")


@command.command()
@index_argument
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--encoder", type=click.Path(path_type=Path), help="Folder of the encoder that turns pictures into codes."
)
@click.option(
    "--existing",
    type=click.Choice(["error", "replace", "skip"]),
    default="error",
    show_default=True,
    help="What to do with ids that the index has already.",
)
@click.option(
    "--number", "numbers", multiple=True, metavar="COLUMN", help="A column of a csv table that holds numbers."
)
@click.option(
    "--first-id", default=0, show_default=True, help="First of the integers that number codes without ids."
)
@device_option
@quiet_option
@json_option
@example("""
kinhash index add photos.kin photos --encoder run/encoder
kinhash index add photos.kin codes
kinhash index add photos.kin items.jsonl more.csv --number year
""")
def add(
    index: Path,
    sources: tuple[Path, ...],
    encoder: Path | None,
    existing: str,
    numbers: tuple[str, ...],
    first_id: int,
    device: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Add what SOURCES hold: each one of

    \b
      FOLDER   codes as `kinhash encode` and Codes.save write them, with ids and labels where items.csv is there
      .jsonl   a line per item: {"id": "a", "code": "0f1e...", and metadata under any other key}
      .csv     columns id and code (hexadecimal); other columns are metadata, empty cells left out
      pictures a folder or a file, with --encoder; the id is the path below the folder

    Items are acknowledged in batches: what was added before an error or Ctrl-C stays, and the same command with
    --existing skip goes on from there.
    """
    import kinhash as kh
    from kinhash.cli.index_sources import Options, batches, holds_codes, picture_batches

    counts = {"added": 0, "replaced": 0, "skipped": 0}
    broken = []
    with kh.Index.open(index) as opened:
        model = None if encoder is None else fitting_encoder(encoder, opened, device)
        options = Options(opened.bits, numbers, first_id)
        for source in sources:
            if model is None or holds_codes(source):
                total, parts = batches(source, options)
            else:
                total, parts = picture_batches(source, model)
            with bar(str(source), total, quiet) as advance:
                for batch in _with_hint(parts, counts):
                    _put(opened, batch, existing, counts)
                    broken += batch.broken
                    advance(batch.rows)
        items = len(opened)
    for picture in broken:
        click.echo(f"kinhash: left out {picture.id}: {picture.reason}", err=True)
    if as_json:
        left_out = [{"id": picture.id, "reason": picture.reason} for picture in broken]
        print_json({"index": str(index), **counts, "items": items, "broken": left_out})
        return
    said = ", ".join(f"{count} {verb}" for verb, count in counts.items() if count or verb == "added")
    click.echo(f"{index}: {said}; {counted(items, 'item')} now")


def _with_hint(parts: Iterator[Batch], counts: dict[str, int]) -> Iterator[Batch]:
    """The batches; where reading fails after some were added, stderr says so before the error."""
    try:
        yield from parts
    except KinhashError:
        _hint(counts)
        raise


def _hint(counts: dict[str, int]) -> None:
    if done := counts["added"] + counts["replaced"]:
        click.echo(
            f"kinhash: {counted(done, 'item')} stay added; --existing skip goes on from there", err=True
        )


def _put(index: Index, batch: Batch, existing: str, counts: dict[str, int]) -> None:
    """Add a batch; `existing` decides about ids that are there."""
    ids = as_ids(index, batch.ids)
    try:
        known = [] if existing == "error" else [row for row, name in enumerate(ids) if name in index]
        if existing == "replace" and known:
            _change(index, "replace", ids, batch, known)
            counts["replaced"] += len(known)
        elif existing == "skip":
            counts["skipped"] += len(known)
        found = set(known)
        fresh = [row for row in range(len(ids)) if row not in found]
        _change(index, "add", ids, batch, fresh)
        counts["added"] += len(fresh)
    except KinhashError:
        _hint(counts)
        raise


def _change(index: Index, verb: str, ids: Sequence[object], batch: Batch, rows: Sequence[int]) -> None:
    metadata = None if batch.metadata is None else [batch.metadata[row] for row in rows]
    getattr(index, verb)([ids[row] for row in rows], batch.codes[rows], metadata)


@command.command()
@index_argument
@click.argument("ids", nargs=-1)
@click.option("--from", "listed", type=click.Path(path_type=Path), help="A text with one id per line.")
@click.option("--where", metavar="FILTER", help="Delete all items whose metadata pass instead.")
@json_option
@example("""
kinhash index delete photos.kin 2019/cat.jpg 2019/dog.jpg
kinhash index delete photos.kin --where 'year < 2010'
""")
def delete(index: Path, ids: tuple[str, ...], listed: Path | None, where: str | None, as_json: bool) -> None:
    """Delete items by id, or all that pass a filter; an unknown id is an error, and then none is deleted."""
    import kinhash as kh

    if sum([bool(ids), listed is not None, where is not None]) != 1:
        raise click.UsageError("say what to delete: ids, or --from FILE, or --where FILTER")
    with kh.Index.open(index) as opened:
        passing = None if where is None else opened.items(where)[0].tolist()
        names = as_ids(opened, ids or _listed(listed)) if passing is None else passing
        opened.delete(names)
        items = len(opened)
    if as_json:
        print_json({"index": str(index), "deleted": len(names), "items": items})
    else:
        click.echo(f"{index}: {len(names)} deleted; {counted(items, 'item')} now")


def _listed(path: Path | None) -> list[str]:
    assert path is not None
    try:
        return [line for line in path.read_text("utf-8").splitlines() if line]
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read as a list of ids: {error}") from error


@command.command()
@index_argument
@json_option
@example("kinhash index compact photos.kin")
def compact(index: Path, as_json: bool) -> None:
    """Merge all segments into one without deleted items: the fastest form to search, and the smallest."""
    import kinhash as kh

    with kh.Index.open(index) as opened:
        before = opened.stats()
        opened.compact()
        after = opened.stats()
    if as_json:
        print_json(
            {"index": str(index), "bytes_before": before.bytes, "bytes": after.bytes, "items": after.items}
        )
    else:
        click.echo(f"{index}: {counted(after.items, 'item')}, {before.bytes:,} -> {after.bytes:,} bytes")


@command.command()
@index_argument
@json_option
@example("kinhash index verify photos.kin && cp -r photos.kin /backup")
def verify(index: Path, as_json: bool) -> None:
    """Read and check every byte; exit code 1, and the name of the file, at the first damage."""
    import kinhash as kh

    with kh.Index.open(index, read_only=True) as opened:
        found = opened.verify()
    if as_json:
        print_json({"index": str(index), **dataclasses.asdict(found)})
    else:
        click.echo(
            f"{index}: intact, {counted(found.items, 'item')} in {found.files} files, {found.bytes:,} bytes"
        )


@command.command()
@index_argument
@json_option
@example("kinhash index stats photos.kin --json")
def stats(index: Path, as_json: bool) -> None:
    """Count items, segments and bytes, and list the keys of the metadata."""
    import kinhash as kh

    with kh.Index.open(index, read_only=True) as opened:
        card = {"index": str(index), **dataclasses.asdict(opened.stats())}
    if as_json:
        print_json(card)
        return
    for name, value in card.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} ({kind})" for key, kind in value.items()) or "none"
        click.echo(
            f"{name.replace('_', ' '):10} {value:,}" if isinstance(value, int) else f"{name:10} {value}"
        )
