"""Captioned pictures that need no list: WebDataset tars, and folders with a text beside every picture."""

from __future__ import annotations

import json
import math
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kinhash.data.archives import Place
from kinhash.data.images import Broken, FilePart, Source
from kinhash.data.pairing import NO_CAPTION, NO_PICTURE, as_captions, told, warn_of
from kinhash.data.splits import TEST_NAMES, Dataset, Split
from kinhash.data.walking import SUFFIXES, is_picture, text_of, walk, why_unreadable
from kinhash.errors import FormatError, InputError, NotFoundError

TEXTS = (".txt", ".caption", ".json")
KEYS = ("caption", "captions", "text")  # under which a json holds its captions; the first that exists counts


@dataclass
class Sample:
    """A picture and its captions, or what there is of them."""

    picture: Source | None = None
    captions: list[str] = field(default_factory=list)
    reason: str = ""  # why what was there could not be used


Samples = dict[str, Sample]


def captioned(root: str | os.PathLike[str]) -> Dataset:
    """Pictures with texts of the same name: `a.jpg` beside `a.txt`, in a folder or in uncompressed tars (WebDataset).

    `root`: a tar, a folder of tars, or a folder of pictures. A `.txt` or `.caption` holds a caption a line, a `.json`
    holds them under "caption", "captions" or "text". What lies in a tar or a folder with test, val or dev in its name
    is the test part. Tars are not unpacked. What has no counterpart is left out, listed and told.
    """
    path = Path(root)
    if not path.exists():
        raise NotFoundError(f"there is no file or folder {path}")
    parts: tuple[Samples, Samples] = ({}, {})
    for source, name in _sources(path):
        found = parts[is_test(name)]
        for key, sample in grouped(source).items():
            found[key if key not in found else f"{name}/{key}"] = sample
    return assembled(path.stem, parts, path)


def is_test(name: str) -> bool:
    """Whether one of the words in the name of a part says test, val or dev."""
    return not set(re.split(r"[^a-z]+", name.lower())).isdisjoint(TEST_NAMES)


def has_texts(path: Path) -> bool:
    """Whether a tar, a folder of tars or a folder of pictures has texts of the same names as its first picture."""
    for source, _ in _sources(path):
        for sample in grouped(source, most=64).values():
            if sample.picture is not None and (sample.captions or sample.reason):
                return True
    return False


def assembled(name: str, parts: Sequence[Samples], where: Path, extra: Sequence[Broken] = ()) -> Dataset:
    """The data set of the samples that are whole; the others are left out, listed and told."""
    splits, told_of = [], list(extra)
    for part in parts:
        whole = {key: s for key, s in part.items() if s.picture is not None and s.captions}
        left = [Broken(key, _lacking(s)) for key, s in part.items() if key not in whole]
        pictures = [s.picture for s in whole.values() if s.picture is not None]
        captions = [s.captions for s in whole.values()]
        splits.append(Split(images=pictures, ids=list(whole), captions=captions, broken=left))
        told_of += left
    splits[0].broken.extend(extra)
    if not any(map(len, splits)):
        raise InputError(f"{where} holds no picture with a caption; {told(told_of) or 'it is empty'}")
    warn_of(told_of, where)
    return Dataset(name, splits[0], splits[1], ())


def grouped(source: Path, most: int | None = None) -> Samples:
    """Everything of a tar or folder by the name without its suffixes; `most` files are looked at.

    What could not be looked into goes by its full name.
    """
    files = _tar_files(source) if source.is_file() else _folder_files(source, most)
    samples: Samples = {}
    for number, (name, place, content) in enumerate(files):
        if number == most:
            break
        path = PurePosixPath(text_of(name))
        key = (path.parent / path.name.split(".")[0]).as_posix()
        if isinstance(content, str):
            samples[text_of(name)] = Sample(reason=content)
        elif content is None:
            samples.setdefault(key, Sample()).picture = place
        else:
            _add_captions(samples.setdefault(key, Sample()), path.suffix.lower(), content)
    # texts that belong to nothing, a README among the pictures, are captions without a picture: they stay and are listed
    return samples


def _sources(path: Path) -> Iterator[tuple[Path, str]]:
    """The tars and folders that hold samples, with the names that say to which part they belong."""
    if path.is_file():
        yield path, path.stem
        return
    tars = sorted([*path.glob("*.tar"), *path.glob("*/*.tar")])
    for tar in tars:
        yield tar, tar.relative_to(path).with_suffix("").as_posix()
    if tars:
        return
    parts = [part for part in sorted(path.iterdir()) if part.is_dir() and not part.name.startswith(".")]
    if any(is_test(part.name) for part in parts):
        yield from ((part, part.name) for part in parts)
    else:
        yield path, ""


# name, where it lies, and what it holds where that is text, or in words why it cannot be used
File = tuple[str, Place, bytes | str | None]


def _tar_files(path: Path) -> Iterator[File]:
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                place = FilePart(path, member.offset_data, member.size)
                if member.isfile() and is_picture(name.name):
                    yield name.as_posix(), place, None
                elif member.isfile() and name.suffix.lower() in TEXTS:
                    yield name.as_posix(), place, place.read()
    except tarfile.TarError as error:
        raise FormatError(f"{path} is no uncompressed tar file: {error}") from error


def _folder_files(path: Path, most: int | None) -> Iterator[File]:
    found = walk(path, SUFFIXES.union(TEXTS), math.inf if most is None else most)
    for file in found.files:
        place = path / file.path
        yield file.path, place, None if is_picture(place.name) else _text(place)
    for passed in found.passed_over:
        yield f"{passed.path}/" if passed.folder else passed.path, path / passed.path, passed.reason


def _text(path: Path) -> bytes | str:
    try:
        return path.read_bytes()
    except OSError as error:
        return why_unreadable(error, "file")


def _add_captions(sample: Sample, suffix: str, content: bytes) -> None:
    """The captions of a text; of a json only where no text has said them, since it often repeats them."""
    try:
        text = content.decode("utf-8-sig")
        if suffix != ".json":
            sample.captions = [line.strip() for line in text.splitlines() if line.strip()]
        elif not sample.captions:
            card = json.loads(text)
            value = next((card[key] for key in KEYS if key in card), None) if isinstance(card, dict) else None
            sample.captions = as_captions(value) or []
    except ValueError as error:  # neither UTF-8 nor json
        sample.reason = f"its {suffix[1:]} cannot be read ({error})"


def _lacking(sample: Sample) -> str:
    return NO_PICTURE if sample.picture is None and not sample.reason else sample.reason or NO_CAPTION
