"""What may be encoded: texts that say something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinhash.errors import InputError


def checked_texts(texts: Sequence[str]) -> list[str]:
    """A list of `texts`; the first that is none, is blank, or is no Unicode, is an error."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"texts are a sequence, got {texts!r:.60}; put a single one into a list")
    listed = list(texts)
    for i, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"text {i} is {text!r:.60}, not a text; leave it out")
        if not any(sign.isprintable() and not sign.isspace() for sign in text):
            raise InputError(f"text {i} is empty, so it has no meaning; leave it out")
        if not text.isascii():
            _check_unicode(text, f"text {i}")
    return [str(text) for text in listed]


def _check_unicode(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} holds half of a character ({text[error.start]!a} at position {error.start}), which is no "
            "Unicode; read it again with its right encoding, or leave it out"
        ) from None
