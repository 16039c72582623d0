"""A card: one picture with what is known about it, as it stands in a row of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinhash.pages.markup import Html, tag
from kinhash.pages.montage import colour_of
from kinhash.pages.thumbnails import Thumbnail

_LINES, _SEEN = 6, 2  # captions: people write five or so; the others open at a click
_LONGEST = 400  # characters of a caption: what follows says nothing that a gallery needs


@dataclass(frozen=True)
class Card:
    """`alt` is what the picture is called where it is not seen; `lines` that are None are left out."""

    picture: Thumbnail
    alt: str
    head: str
    lines: Sequence[str | None]
    name: str  # the id or path
    similarity: float | None = None
    query: bool = False
    keep: bool = False


def card(content: Card) -> Html:
    """The card as an item of a list."""
    kinds = ("card", "query" if content.query else None, "keep" if content.keep else None)
    style = None
    if content.similarity is not None:
        style = "--near: rgb({}, {}, {})".format(*colour_of(content.similarity))
    lines = [tag("div", shortened(line)) for line in [line for line in content.lines if line][:_LINES]]
    first, more = lines[:_SEEN], lines[_SEEN:]
    if more:
        first.append(tag("details", tag("summary", f"{len(more)} more"), *more))
    caption = tag(
        "figcaption",
        tag("strong", content.head),
        *first,
        tag("div", tag("bdi", shortened(content.name)), class_="faint"),
    )
    figure = tag("figure", _picture(content), caption, class_=" ".join(filter(None, kinds)), style=style)
    return tag("li", figure)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """One line of bounded length."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else line[:longest] + "…"


def _picture(content: Card) -> Html:
    picture = content.picture
    if picture.data is None:
        return tag("div", "cannot be read", class_="absent", title=shortened(picture.reason))
    return tag(
        "img",
        src=picture.uri,
        alt=shortened(content.alt, 150),
        width=picture.width,
        height=picture.height,
        loading="lazy",
    )
