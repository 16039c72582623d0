"""Manifests: a csv, tsv, jsonl or parquet file that lists pictures with labels, captions, or both."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kinhash.data.anything import TABLES
from kinhash.data.archives import Library
from kinhash.data.images import Source
from kinhash.data.labels import numbered
from kinhash.data.picture_tables import read_parquet
from kinhash.data.splits import TEST_NAMES, Dataset, Split
from kinhash.errors import FormatError, InputError, NotFoundError

Row = dict[str, Any]
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
    split is test, val or dev belongs to the test part, any other to the training part.
    """
    path = Path(root)
    rows = _read(path)
    if not rows:
        raise InputError(f"{path} lists no pictures")
    names = _columns(rows[0], columns, path)
    groups = _grouped(rows, names, path)
    library = Library([path.parent] if images is None else _as_paths(images))
    parts = [[group for group in groups if (group["split"] in TEST_NAMES) == test] for test in (False, True)]
    labels, classes_found = numbered(
        [[group["label"] for group in part] if "label" in names else None for part in parts],
        classes,
        str(path),
    )
    splits = [
        _split(part, numbers, classes_found, library, "caption" in names)
        for part, numbers in zip(parts, labels, strict=True)
    ]
    return Dataset(path.stem, splits[0], splits[1], classes_found)


def _split(
    groups: Sequence[Row], labels: Any, classes: tuple[str, ...], library: Library, captioned: bool
) -> Split:
    return Split(
        images=[_source(group["picture"], library) for group in groups],
        labels=labels,
        classes=classes,
        ids=[group["id"] for group in groups],
        captions=[group["captions"] for group in groups] if captioned else None,
    )


def _source(value: Any, library: Library) -> Source:
    if isinstance(value, bytes):
        return value
    if isinstance(value, Mapping):  # {bytes, path}, the layout of Hugging Face
        content: bytes | None = value.get("bytes")
        return content if content is not None else library.find(str(value.get("path")))
    return library.find(str(value))


def _grouped(rows: Sequence[Row], names: Mapping[str, str], path: Path) -> list[Row]:
    """One entry per picture, in order of appearance, with all its captions."""
    groups: dict[str, Row] = {}
    for number, row in enumerate(rows, start=1):
        value = {role: row.get(column) for role, column in names.items()}
        for role in value.keys() & {"picture", "label", "id"}:
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
    texts = [value] if isinstance(value, str) else value
    if (
        not isinstance(texts, list)
        or not texts
        or not all(isinstance(text, str) and text.strip() for text in texts)
    ):
        raise FormatError(f"{path}, row {number}: no caption")
    return [text.strip() for text in texts]


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


def _read(path: Path) -> list[Row]:
    if not path.is_file():
        raise NotFoundError(f"there is no manifest {path}")
    kind = path.suffix.lower()
    try:
        if kind in (".csv", ".tsv"):
            with path.open(newline="", encoding="utf-8-sig") as lines:
                return list(csv.DictReader(lines, delimiter="\t" if kind == ".tsv" else ",", strict=True))
        if kind in (".jsonl", ".ndjson"):
            return _json_lines(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} cannot be read as {kind[1:]}: {error}") from error
    if kind == ".parquet":
        return read_parquet([path]).to_pylist()
    raise InputError(f"{path}: a manifest is a csv, tsv, jsonl or parquet file")


def _json_lines(path: Path) -> list[Row]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise FormatError(f"{path}, line {number} is no json: {error}") from error
        if not isinstance(row, dict):
            raise FormatError(f"{path}, line {number} holds no object with named values")
        rows.append(row)
    return rows


def _as_paths(images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    return [Path(images)] if isinstance(images, str | os.PathLike) else [Path(part) for part in images]
