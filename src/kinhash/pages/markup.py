"""HTML by functions: text is escaped because it is text, and only what a function here made is markup."""

from __future__ import annotations

import html
import unicodedata

_VOID = frozenset({"br", "hr", "img", "meta"})


class Html(str):
    """A piece of finished markup."""

    __slots__ = ()


def escaped(text: object) -> Html:
    """Any text as markup that shows it; characters that no page may hold, or that turn its direction, show as �."""
    shown = "".join("\ufffd" if _hidden(character) else character for character in str(text))
    return Html(html.escape(shown, quote=True))


def joined(*children: object) -> Html:
    """Markup as it is and everything else escaped, one after the other; None is nothing."""
    parts = (child if isinstance(child, Html) else escaped(child) for child in children if child is not None)
    return Html("".join(parts))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """<name attributes>children</name>. `class_` is class, `data_id` is data-id; True stands alone, None is left out."""
    written = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def _attribute(name: str, value: object) -> str:
    return f" {name}" if value is True else f' {name}="{escaped(value)}"'


def _hidden(character: str) -> bool:
    """Control characters, halves of surrogate pairs (file names that are not UTF-8) and overrides of direction."""
    kind = unicodedata.category(character)
    return (
        kind == "Cs"
        or (kind == "Cc" and character not in "\n\t")
        or "\u202a" <= character <= "\u202e"
        or "\u2066" <= character <= "\u2069"
    )
