"""The sentences that classes are described by: WordNet's glosses, or whatever the caller says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinhash.errors import InputError
from kinhash.meaning.semantics import checked_names
from kinhash.meaning.tables import bundled_table, class_table, meanings
from kinhash.meaning.wordnet import load_wordnet

_KEY = re.compile(r"n\d{8}|\S+\.n\.\d+")


def class_texts(
    classes: str | Sequence[str] | Mapping[str, str],
    table: str | Path | Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Class -> the sentence that describes it, in their order.

    A mapping says it itself. For classes of a bundled table, ids of ImageNet, synset names, and names in `table`, it is
    the definition in WordNet. Any other class is a text, such as a caption, that stands for itself.
    """
    if isinstance(classes, Mapping):
        if table is not None:
            raise InputError("a mapping of classes to texts needs no table; give one of the two")
        return dict(zip(checked_names(list(classes)), classes.values(), strict=True))
    names = class_table(classes).names if isinstance(classes, str) else checked_names(classes)
    wordnet = load_wordnet()
    bundled = bundled_table(classes, names)
    chosen = {**(bundled.synsets if bundled else {}), **meanings(table, wordnet)}
    keys = {name: chosen.get(name, name) for name in names}
    return {
        name: definition(wordnet.synset(key).gloss) if name in chosen or _KEY.fullmatch(key) else name
        for name, key in keys.items()
    }


def definition(gloss: str) -> str:
    """A gloss without its examples, which speak of other things: 'a piece of furniture ...; "he sat on the bed"'."""
    return gloss.split('; "')[0].rstrip("; ")
