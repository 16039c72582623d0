"""`kinhash index`: make, fill, tidy and check an index on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from kinhash.cli.index_add import add
from kinhash.cli.index_talk import as_ids, index_argument
from kinhash.cli.talk import counted, example, json_option, print_json
from kinhash.errors import FormatError


@click.group()
def command() -> None:
    """Make, fill, tidy and check an index: a folder of codes with ids and metadata, searched exactly.

    Exit codes: 0 when all is done, 1 on an error (one sentence on stderr says which), 2 on a wrong command line.
    """


command.add_command(add)


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
