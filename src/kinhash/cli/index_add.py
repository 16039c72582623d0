"""`kinhash index add`: codes, tables and pictures into an index, in batches that are each acknowledged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kinhash.bar import bar
from kinhash.cli.index_talk import as_ids, fitting_encoder, index_argument
from kinhash.cli.talk import (
    counted,
    device_option,
    example,
    json_option,
    print_json,
    quiet_option,
    tell_left_out,
)
from kinhash.errors import KinhashError

if TYPE_CHECKING:
    from kinhash.cli.index_sources import Batch
    from kinhash.index.index import Index


@click.command()
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
            with bar(str(source), total, not quiet) as advance:
                for batch in _with_hint(parts, counts):
                    _put(opened, batch, existing, counts)
                    broken += batch.broken
                    advance(batch.rows)
        items = len(opened)
    left_out = tell_left_out(broken)
    if as_json:
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
