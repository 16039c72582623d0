"""`kinhash dedup FOLDER`: near-duplicates among the pictures of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kinhash.bar import bar
from kinhash.cli.talk import counted, print_json, tell_left_out

if TYPE_CHECKING:
    from kinhash.duplicates.folder import DuplicatePictures


def dedup_pictures(
    folder: Path,
    radius: int | None,
    likeness: float | None,
    with_pairs: bool,
    html: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find, write the page, and tell."""
    from kinhash.data.walking import text_of
    from kinhash.duplicates.pairs import LEAST, RADIUS

    radius = RADIUS if radius is None else radius
    likeness = LEAST if likeness is None else likeness
    found = _found(folder, radius, likeness, quiet)
    pictures = len(found.names)
    grouped = sum(map(len, found.groups))
    said = (
        f"{counted(len(found.pairs), 'pair')} within {counted(radius, 'bit')} and with a likeness of {likeness:g} or more: "
        f"{counted(len(found.groups), 'group')} of {counted(grouped, 'picture')} among {pictures}"
    )
    if html is not None:
        from kinhash.pages.dedup_review import review_page
        from kinhash.pages.page import write_page

        write_page(review_page(found.groups, f"Pictures of {folder}: {said}."), html)
    left_out = tell_left_out(found.broken)
    groups = [[text_of(facts.name) for facts in group] for group in found.groups]
    if as_json:
        card: dict[str, Any] = {
            "folder": str(folder),
            "radius": radius,
            "likeness": likeness,
            "pictures": pictures,
        }
        card |= {"pairs": len(found.pairs), "groups": groups, "broken": left_out}
        print_json(card | ({"pairs": _pairs(found)} if with_pairs else {}))
        return
    for line in (map(str, pair[:3]) for pair in _pairs(found)) if with_pairs else groups:
        click.echo("\t".join(line))
    click.echo(said, err=True)


def _found(folder: Path, radius: int, likeness: float, quiet: bool) -> DuplicatePictures:
    import kinhash as kh

    with bar("pictures read, then compared", None, not quiet) as advance:
        return kh.duplicate_pictures(folder, radius=radius, likeness=likeness, progress=lambda *_: advance(1))


def _pairs(found: DuplicatePictures) -> list[tuple[int, str, str, float]]:
    """Distance, the two names, and their likeness."""
    from kinhash.data.walking import text_of

    pairs = found.pairs
    names = [text_of(name) for name in found.names]
    return [
        (far, names[a], names[b], round(alike, 4))
        for a, b, far, alike in zip(
            pairs.left.tolist(),
            pairs.right.tolist(),
            pairs.distances.tolist(),
            pairs.likeness.tolist(),
            strict=True,
        )
    ]
