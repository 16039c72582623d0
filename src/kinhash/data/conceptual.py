"""Conceptual Captions: a tsv of captions and urls, with pictures that somebody has downloaded."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from kinhash.data.archives import Library, Place
from kinhash.data.captioned import Sample, Samples, assembled, is_test
from kinhash.data.images import Broken
from kinhash.data.manifests import as_paths
from kinhash.data.pairing import NO_CAPTION, as_captions
from kinhash.data.rows import wide_fields
from kinhash.data.splits import Dataset
from kinhash.errors import FormatError, NotFoundError


def conceptual_captions(
    root: str | os.PathLike[str],
    images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
) -> Dataset:
    """A tsv of Conceptual Captions, or a folder of them: lines `caption TAB url`, with pictures that lie on this machine.

    `images`: folders or tars with the pictures, by default the folder of the tsv. A picture is found by the last part
    of its url, with or without a suffix; nothing is downloaded. A file whose name contains "validation" is the test part.
    """
    path = Path(root)
    files = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise NotFoundError(f"there is no tsv of captions and urls at {path}")
    library = Library([files[0].parent] if images is None else as_paths(images))
    parts: tuple[Samples, Samples] = ({}, {})
    for file in files:
        _read_urls(file, parts[is_test(file.stem)])
    used = [place for part in parts for place in _locate(part, library)]
    extra = [Broken(name, NO_CAPTION) for name in library.beside(used)]
    return assembled(path.stem, parts, path, extra)


def is_conceptual(path: Path) -> bool:
    """Whether the first line of a tsv is a caption and a url."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            fields = lines.readline().rstrip("\n").split("\t")
    except (OSError, UnicodeDecodeError):
        return False
    return path.suffix.lower() == ".tsv" and len(fields) == 2 and _is_url(fields[1])


def _read_urls(path: Path, samples: Samples) -> None:
    try:
        with wide_fields(), path.open(newline="", encoding="utf-8-sig") as lines:
            for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if len(row) != 2:
                    raise FormatError(f"{path}, line {number}: a caption, a tab and a url were expected")
                caption, url = row
                key = url.strip() or f"{path.name}, line {number}"
                samples.setdefault(key, Sample()).captions += as_captions(caption) or []
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} cannot be read as tsv: {error}") from error


def _locate(samples: Samples, library: Library) -> Iterable[Place]:
    """Finds the pictures of urls; a picture that two urls claim belongs to neither, since one of them is wrong."""
    claims: dict[Place, list[Sample]] = {}
    for url, sample in samples.items():
        name = unquote(PurePosixPath(urlsplit(url).path).name)
        place = library.locate(name) if name else None
        if place is not None:
            sample.picture = place
            claims.setdefault(place, []).append(sample)
    for ones in claims.values():
        for sample in ones if len(ones) > 1 else ():
            sample.picture, sample.reason = None, "two urls end in the same name"
    return claims


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))
