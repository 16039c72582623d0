"""Manifests: a csv, tsv, jsonl or parquet file that lists pictures with labels, captions, or both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kinhash.data.anything import TABLES
from kinhash.data.archives import Library, Place
from kinhash.data.images import Broken, Source
from kinhash.data.labels import numbered
from kinhash.data.pairing import NO_CAPTION, NO_PICTURE, as_captions, told, warn_of
from kinhash.data.rows import Row, read_rows
from kinhash.data.splits import TEST_NAMES, Dataset, Split
from kinhash.errors import FormatError, InputError

# the names under which a column is recognised, the first that exists counts
COLUMNS = {
    "picture": ("path", "file", "filename", "file_name", "image", "img", "picture", "image_id", "id"),
    "label": ("label", "class", "wnid", "fine_label"),
    "caption": ("caption", "captions", "text"),
    "id": ("id", "image_id"),
    "split": ("split",),
}


def is_manifest(path: Path) -> bool:
    """Whether the file is of a kind that `manifest` reads."""
    return path.suffix.lower() in TABLES


def listed_captions(folder: Path) -> Path | None:
    """The list `captions.csv` (tsv, jsonl ...) of a folder of pictures or tars, where there is one."""
    return next((path for path in sorted(folder.glob("captions.*")) if is_manifest(path)), None)


def manifest(
    root: str | os.PathLike[str],
    images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    classes: Sequence[str] | None = None,
    **columns: str,
) -> Dataset:
    """The pictures that the file `root` lists, one per row; rows with the same picture add captions to it.

    `images`: folders or tar files in which the named pictures are looked for, by default the folder of the
    manifest; a name may lack its suffix. `classes` orders the names of classes. Columns are found by their usual
    names (path, label, caption, id, split); `picture=`, `label=`, `caption=`, `id=`, `split=` say others. A row whose
    split is test, val or dev belongs to the test part, any other to the training part. Where there are captions, a row
    without a caption or without a picture, and a picture without a row, are left out, listed and told.
    """
    path = Path(root)
    rows = read_rows(path)
    if not rows:
        raise InputError(f"{path} lists no pictures")
    names = _columns(rows[0], columns, path)
    groups = _grouped(rows, names, path)
    library = Library([path.parent] if images is None else as_paths(images))
    left = list[Broken]()
    if "caption" in names:
        groups, left = _paired(groups, library, path)
    else:
        for group in groups:
            group["picture"] = _source(group["picture"], library)
    parts = [[group for group in groups if (group["split"] in TEST_NAMES) == test] for test in (False, True)]
    labels, classes_found = numbered(
        [[group["label"] for group in part] if "label" in names else None for part in parts],
        classes,
        str(path),
    )
    splits = [
        _split(part, numbers, classes_found, "caption" in names, unpaired)
        for part, numbers, unpaired in zip(parts, labels, (left, []), strict=True)
    ]
    return Dataset(path.stem, splits[0], splits[1], classes_found)


def _split(
    groups: Sequence[Row], labels: Any, classes: tuple[str, ...], captioned: bool, left: list[Broken]
) -> Split:
    return Split(
        images=[group["picture"] for group in groups],
        labels=labels,
        classes=classes,
        ids=[group["id"] for group in groups],
        captions=[group["captions"] for group in groups] if captioned else None,
        broken=left,
    )


def _source(value: Any, library: Library) -> Source:
    content, name = _content(value)
    return library.find(name) if content is None else content


def _content(value: Any) -> tuple[bytes | None, str]:
    """The bytes of a picture where the row holds them, else its name."""
    if isinstance(value, bytes):
        return value, ""
    if isinstance(value, Mapping):  # {bytes, path}, the layout of Hugging Face
        return value.get("bytes"), str(value.get("path"))
    return None, str(value)


def _paired(groups: Sequence[Row], library: Library, path: Path) -> tuple[list[Row], list[Broken]]:
    """The rows with a picture and a caption; the others, and pictures that no row names, with reasons."""
    kept, left, used = list[Row](), list[Broken](), list[Place]()
    for group in groups:
        content, name = _content(group["picture"])
        place = library.locate(name) if content is None and name else None
        if place is not None:
            used.append(place)
        group["picture"] = place if content is None else content
        if group["picture"] is None:
            left.append(Broken(group["id"], NO_PICTURE))
        elif not group["captions"]:
            left.append(Broken(group["id"], NO_CAPTION))
        else:
            kept.append(group)
    left += [Broken(name, NO_CAPTION) for name in library.beside(used)]
    if not kept:
        raise InputError(f"{path} has no row with both a picture and a caption; {told(left)}")
    warn_of(left, path)
    return kept, left


def _grouped(rows: Sequence[Row], names: Mapping[str, str], path: Path) -> list[Row]:
    """One entry per picture, in order of appearance, with all its captions."""
    groups: dict[str, Row] = {}
    for number, row in enumerate(rows, start=1):
        value = {role: row.get(column) for role, column in names.items()}
        if "caption" in names and not value["picture"]:  # a caption without a picture: listed, not refused
            value["id"] = value.get("id") or f"row {number}"
        needed = {"label", "id"} if "caption" in names else {"picture", "label", "id"}
        for role in value.keys() & needed:
            if value[role] in (None, ""):
                raise FormatError(f"{path}, row {number}: nothing in column {names[role]!r}")
        picture, label = value["picture"], value.get("label")
        key = str(value.get("id", picture if isinstance(picture, str) else number - 1))
        new: Row = {
            "id": key,
            "picture": picture,
            "label": label,
            "captions": [],
            "split": value.get("split"),
        }
        group = groups.setdefault(key, new)
        if group["label"] != label:
            raise FormatError(
                f"{path}, row {number}: {key} has label {label!r}, but {group['label']!r} further up"
            )
        if "caption" in names:
            group["captions"] += _captions(value["caption"], path, number)
    return list(groups.values())


def _captions(value: Any, path: Path, number: int) -> list[str]:
    texts = as_captions(value)
    if texts is None:
        raise FormatError(f"{path}, row {number}: the caption is neither a text nor a list of texts")
    return texts


def _columns(row: Row, given: Mapping[str, str], path: Path) -> dict[str, str]:
    unknown = set(given) - set(COLUMNS)
    if unknown:
        raise InputError(f"a manifest has no option {sorted(unknown)[0]!r}; columns are {', '.join(COLUMNS)}")
    found = {}
    for role, usual in COLUMNS.items():
        name = given.get(role) or next((name for name in usual if name in row), None)
        if name is not None and name not in row:
            raise FormatError(f"{path} has no column {name!r}; it has {', '.join(row)}")
        if name is not None:
            found[role] = name
    if "picture" not in found:
        raise FormatError(
            f"{path} has no column that names pictures (path, file, image, ...): pass picture=COLUMN"
        )
    return found


def as_paths(images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    return [Path(images)] if isinstance(images, str | os.PathLike) else [Path(part) for part in images]
