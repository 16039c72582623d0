"""`kinhash dedup`: items of an index that are nearly the same, in groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kinhash.bar import bar
from kinhash.cli.index_talk import (
    counted,
    example,
    index_argument,
    where_option,
)
from kinhash.cli.talk import json_option, print_json, quiet_option


@click.command()
@index_argument
@click.option("--radius", default=0, show_default=True, help="Largest Hamming distance of a pair.")
@where_option
@click.option("--pairs", "with_pairs", is_flag=True, help="List the pairs instead of the groups.")
@quiet_option
@json_option
@example("""
kinhash dedup photos.kin --radius 3
kinhash dedup photos.kin --radius 3 --pairs --json
""")
def command(
    index: Path, radius: int, where: str | None, with_pairs: bool, quiet: bool, as_json: bool
) -> None:
    """Find all pairs of items within a radius and put items that pairs connect into one group.

    One line per group, ids separated by tabs; with --pairs one line per pair: distance, id, id.
    """
    import kinhash as kh

    with kh.Index.open(index, read_only=True) as opened:
        items = opened.count(where)
        with bar("items compared", items, not quiet) as advance:
            done = 0

            def progress(count: int, _: int) -> None:
                nonlocal done
                advance(count - done)
                done = count

            found = opened.dedup(radius, where, pairs=with_pairs, progress=progress)
    pairs: list[tuple[Any, Any, int]] = []
    if found.pairs is not None:
        columns = (found.pairs.left.tolist(), found.pairs.right.tolist(), found.pairs.distances.tolist())
        pairs = list(zip(*columns, strict=True))
    groups = [group.tolist() for group in found.groups]
    if as_json:
        card = {"index": str(index), "radius": radius, "items": items, "pairs": found.count, "groups": groups}
        print_json(card | ({"pairs": pairs} if with_pairs else {}))
        return
    lines = [(str(d), str(a), str(b)) for a, b, d in pairs] if with_pairs else [map(str, g) for g in groups]
    for line in lines:
        click.echo("\t".join(line))
    among = sum(map(len, groups))
    click.echo(
        f"{counted(found.count, 'pair')} within {counted(radius, 'bit')}: {counted(len(groups), 'group')} of "
        f"{counted(among, 'item')} among {items}",
        err=True,
    )
