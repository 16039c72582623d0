"""`kinhash dedup`: pictures of a folder, or items of an index, that are nearly the same, in groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kinhash.bar import bar
from kinhash.cli.dedup_pictures import dedup_pictures
from kinhash.cli.index_talk import where_option
from kinhash.cli.talk import counted, example, json_option, print_json, quiet_option
from kinhash.index.head import NAME as HEAD


@click.command()
@click.argument("place", metavar="FOLDER|INDEX", type=click.Path(path_type=Path))
@click.option(
    "--radius",
    type=int,
    help="Largest Hamming distance of a pair.  [default: 10 for pictures, 0 in an index]",
)
@click.option(
    "--likeness", type=float, help="Of pictures: least correlation of their pixels.  [default: 0.84]"
)
@where_option
@click.option("--pairs", "with_pairs", is_flag=True, help="List the pairs instead of the groups.")
@click.option(
    "--html", type=click.Path(path_type=Path), help="Also write a page to look at the groups and to decide."
)
@quiet_option
@json_option
@example("""
kinhash dedup ~/Pictures --html duplicates.html
kinhash dedup ~/Pictures --likeness 0.95 --json
kinhash dedup photos.kin --radius 3 --pairs --json
""")
def command(
    place: Path,
    radius: int | None,
    likeness: float | None,
    where: str | None,
    with_pairs: bool,
    html: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find near-duplicates and put those that pairs connect into one group. Nothing is deleted.

    Of a FOLDER the pictures are compared by what they look like; in each group the one to keep comes first: most pixels,
    then oldest. Of an INDEX the codes are compared. One line per group, ids separated by tabs; with --pairs one line per
    pair: distance, id, id.
    """
    if place.is_dir() and not (place / HEAD).is_file():
        if where is not None:
            raise click.UsageError(
                "--where chooses among the items of an index, and this is a folder of pictures"
            )
        dedup_pictures(place, radius, likeness, with_pairs, html, quiet, as_json)
        return
    if likeness is not None:
        raise click.UsageError("--likeness compares pixels: name the folder of the pictures, not an index")
    _dedup_index(place, radius or 0, where, with_pairs, html, quiet, as_json)


def _dedup_index(
    index: Path,
    radius: int,
    where: str | None,
    with_pairs: bool,
    html: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
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
    among = sum(map(len, groups))
    said = (
        f"{counted(found.count, 'pair')} within {counted(radius, 'bit')}: {counted(len(groups), 'group')} of "
        f"{counted(among, 'item')} among {items}"
    )
    if html is not None:
        _write_review(index, groups, said, html)
    if as_json:
        card = {"index": str(index), "radius": radius, "items": items, "pairs": found.count, "groups": groups}
        print_json(card | ({"pairs": pairs} if with_pairs else {}))
        return
    lines = [(str(d), str(a), str(b)) for a, b, d in pairs] if with_pairs else [map(str, g) for g in groups]
    for line in lines:
        click.echo("\t".join(line))
    click.echo(said, err=True)


def _write_review(index: Path, groups: list[list[Any]], said: str, out: Path) -> None:
    """The pictures of the groups, where the metadata or the ids say where they lie."""
    from kinhash.duplicates.facts import best_first, facts_of
    from kinhash.pages.dedup_review import review_page
    from kinhash.pages.gallery_sources import read_coded
    from kinhash.pages.page import write_page

    known = read_coded(index)
    paths = dict(zip(known.ids, known.paths or map(Path, known.ids), strict=True))
    facts = [best_first(facts_of(paths[str(name)], str(name)) for name in group) for group in groups]
    write_page(review_page(facts, f"Codes of the index {index}: {said}."), out)
