"""A page on which a person looks at near-duplicates and decides: groups in rows, the one to keep first. Deletes nothing."""

from __future__ import annotations

import html
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinhash.duplicates.facts import Facts
from kinhash.duplicates.folder import spared
from kinhash.pages.figure_cards import Card, card
from kinhash.pages.markup import Html, escaped, tag
from kinhash.pages.page import page, section
from kinhash.pages.thumbnails import MEGABYTES, Thumbnail, thumbnails

SHOWN = 3000  # pictures of a page: more take minutes to look at


def review_page(groups: Sequence[Sequence[Facts]], how: str, *, megabytes: float = MEGABYTES) -> Html:
    """The document; `how` says in a sentence how the groups were found."""
    shown = _first(groups)
    sources = {facts.path: facts.path for group in shown for facts in group if facts.bytes}
    small = thumbnails(sources, megabytes=megabytes)
    rest = [facts for group in groups for facts in group[1:]]
    hidden = len(groups) - len(shown)
    return page(
        "Near-duplicates",
        tag("p", how),
        tag(
            "p",
            f"{len(groups):,} groups of {sum(map(len, groups)):,} pictures. Keeping the first of each would spare "
            f"{len(rest):,} pictures, {spared(groups) / 1e6:,.1f} MB. Nothing was deleted, nothing here deletes.",
        ),
        tag("p", tag("a", "The list of all pictures that could go", href="#rest")) if rest else None,
        *(_group(number, group, small.found) for number, group in enumerate(shown, 1)),
        _rest(rest) if rest else None,
        notes=(
            small.note(),
            f"{hidden:,} more groups are not shown, but are in the list." if hidden else None,
        ),
    )


def _first(groups: Sequence[Sequence[Facts]]) -> Sequence[Sequence[Facts]]:
    """As many groups as a page shows; a first one that is larger than that is cut."""
    count = 0
    shown: list[Sequence[Facts]] = []
    for group in groups:
        if count + len(group) > SHOWN:
            return shown or [group[:SHOWN]]
        shown.append(group)
        count += len(group)
    return shown


def _group(number: int, group: Sequence[Facts], small: Mapping[Path, Thumbnail]) -> Html:
    cards = []
    for place, facts in enumerate(group):
        head = "keep: largest, then oldest" if place == 0 else "could go"
        cards.append(
            card(
                Card(
                    small.get(facts.path, Thumbnail(None, reason="there is no such file")),
                    alt=f"{'to keep' if place == 0 else 'could go'}: {facts.name}",
                    head=head,
                    lines=(str(facts),),
                    name=facts.name,
                    keep=place == 0,
                )
            )
        )
    return section(f"Group {number}: {len(group)} pictures", tag("ul", *cards, class_="row"))


def _rest(rest: Sequence[Facts]) -> Html:
    """Paths quoted for a shell. A name that would show as another one is left out: the list must not lead astray."""
    plain = [shlex.quote(str(facts.path)) for facts in rest if _plain(str(facts.path))]
    left_out = len(rest) - len(plain)
    warning = (
        f"{left_out:,} names hold characters that cannot be shown as they are; they are not in the list."
        if left_out
        else None
    )
    return section(
        "Pictures that could go",
        tag(
            "p",
            "One path a line, quoted for a shell; a click selects all. Look at the groups before you use it.",
        ),
        None if warning is None else tag("p", warning),
        tag("pre", "\n".join(plain), tabindex="0", aria_label="paths of the pictures that could go"),
        name="rest",
    )


def _plain(path: str) -> bool:
    """Whether a reader sees the very path."""
    return path.isprintable() and html.unescape(escaped(path)) == path
