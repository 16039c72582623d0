"""What a gallery is made of, read from disk: codes of folders and indexes, brought together with pictures by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinhash.album.place import index_at
from kinhash.cards.names import HOME
from kinhash.codes import CODES_CARD, Codes
from kinhash.data.labels import numbered
from kinhash.data.splits import Split
from kinhash.data.walking import path_of
from kinhash.errors import InputError, NotFoundError
from kinhash.index.head import NAME as HEAD
from kinhash.index.index import Index
from kinhash.items import CodedItems


@dataclass(frozen=True, eq=False)
class Coded:
    """Codes by id, and what is known beside them: class names, captions, where the pictures lie."""

    ids: Sequence[str]
    codes: Codes
    labels: Sequence[str] | None = None
    captions: Sequence[Sequence[str]] | None = None
    paths: Sequence[Path] | None = None


def read_coded(place: Path) -> Coded:
    """A folder that `kinhash encode` wrote, an index, or a folder of photos with its index."""
    if (place / CODES_CARD).is_file():
        items = CodedItems.load(place)
        return Coded(items.ids, items.codes, items.labels)
    found = index_at(place)
    if not (found / HEAD).is_file():
        raise NotFoundError(
            f"{place} holds neither codes nor an index: name a folder that `kinhash encode` wrote, an index, or an encoder"
        )
    with Index.open(found, read_only=True) as index:
        ids, codes = index.items()
        metadata = index.get(ids).metadata if len(ids) else []
    base = found.parent.parent if found.parent.name == HOME else Path()
    paths = _column(metadata, "path")
    captions = _column(metadata, "caption")
    return Coded(
        [str(name) for name in ids.tolist()],
        codes,
        _column(metadata, "label"),
        None if captions is None else [[text] for text in captions],
        None if paths is None else [base / path_of(path) for path in paths],
    )


def pictures_of(models: Mapping[str, Coded]) -> Split:
    """The pictures of the first model that knows where they lie, or whose ids are paths of files."""
    for coded in models.values():
        paths = coded.paths
        if paths is None and coded.ids and all(Path(name).is_file() for name in coded.ids[:10]):
            paths = [Path(name) for name in coded.ids]
        if paths is not None:
            return Split(images=list(paths), ids=list(coded.ids))
    raise InputError(
        "where the pictures lie is not known: say it with --pictures FOLDER (ids are paths below it) or --data"
    )


def aligned(
    models: Mapping[str, Coded], data: Split
) -> tuple[dict[str, Codes], Split, np.ndarray[Any, np.dtype[np.int64]]]:
    """The pictures of `data` that every model has a code of, these codes in their order, and which rows they were.

    Labels and captions that `data` lacks come from the first model that knows them.
    """
    places = {name: {item: row for row, item in enumerate(coded.ids)} for name, coded in models.items()}
    kept = [row for row, item in enumerate(data.ids) if all(item in known for known in places.values())]
    if not kept:
        name, coded = next(iter(models.items()))
        first = f"{coded.ids[0]!r}" if coded.ids else "nothing"
        raise InputError(
            f"no picture has a code of every model: pictures begin with {data.ids[0]!r}, codes of {name} with {first}"
        )
    rows = np.array(kept, np.int64)
    shown = data.take(rows)
    codes = {}
    for name, coded in models.items():
        own = np.array([places[name][item] for item in shown.ids], np.int64)
        codes[name] = coded.codes[own]
        if shown.labels is None and coded.labels is not None:
            [labels], classes = numbered([[coded.labels[i] for i in own]], None, f"the labels of {name}")
            shown = replace(shown, labels=labels, classes=classes)
        if shown.captions is None and coded.captions is not None:
            shown = replace(shown, captions=[list(coded.captions[i]) for i in own])
    return codes, shown, rows


def _column(metadata: Sequence[Mapping[str, Any]], name: str) -> list[str] | None:
    """One text of every item; None unless all have one."""
    found = [item.get(name) for item in metadata]
    return [str(text) for text in found] if found and all(isinstance(text, str) for text in found) else None
