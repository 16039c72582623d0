"""CIFAR-100 in every form it comes in: parquet, the official archives, and what they unpack to."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinhash.data.download import Archive, absent, fetch, places, verify
from kinhash.data.images import Pixels
from kinhash.data.pickles import load_plain_pickle
from kinhash.data.picture_tables import labelled_pictures, parquet_files
from kinhash.data.splits import Dataset, Split
from kinhash.errors import FormatError, NotFoundError
from kinhash.meaning.tables import class_table

SIDE = 32
PIXELS = 3 * SIDE * SIDE
HOME = "https://www.cs.toronto.edu/~kriz/"
_SAMPLE = Path(str(files("kinhash.data") / "resources" / "cifar100-sample"))


def cifar100(root: str | os.PathLike[str] | None = None, download: bool = True) -> Dataset:
    """The 50,000 + 10,000 pictures of CIFAR-100 (Krizhevsky 2009), for research.

    Looked for as parquet, as the unpacked or packed binary or python archive; else the binary archive is downloaded
    to the last place searched, unless `download` is False.
    """
    searched = places("cifar100", root)
    for place in searched:
        if parquet_files(place, "train") and parquet_files(place, "test"):
            return _from_parquet("cifar100", place)
        for form in FORMS:
            if (place / form.folder).is_dir():
                return _of_folder(place / form.folder, form)
            if (place / form.archive.name).is_file():
                verify(place / form.archive.name, form.archive.md5)
                return _of_archive(place / form.archive.name, form)
    archives = ", ".join(form.archive.name for form in FORMS)
    wanted = f"{archives} or the parquet files train-*.parquet and test-*.parquet"
    if not download:
        raise absent("cifar100", searched, wanted)
    try:
        return _of_archive(fetch(FORMS[0].archive, searched[-1]), FORMS[0])
    except NotFoundError as error:
        raise absent("cifar100", searched, wanted, f" ({error})") from error


def cifar100_sample(root: str | os.PathLike[str] | None = None) -> Dataset:
    """22 training and 10 test pictures of each class, shipped with the package. `root` is not looked at."""
    return _from_parquet("cifar100-sample", _SAMPLE)


def _from_parquet(name: str, folder: Path) -> Dataset:
    splits = {}
    for split in ("train", "test"):
        contents, _, numbers = labelled_pictures(folder, split, "fine_label")
        labels = np.array(numbers, dtype=np.int64)
        ids = [f"{split}/{i:05}" for i in range(len(labels))]
        splits[split] = Split(list(contents), labels, class_table("cifar100").names, ids).in_memory()
    return Dataset(name, splits["train"], splits["test"], class_table("cifar100").names)


def _assembled(parts: dict[str, tuple[Pixels, NDArray[np.int64]]]) -> Dataset:
    classes = class_table("cifar100").names
    splits = {
        name: Split(images, labels, classes, [f"{name}/{i:05}" for i in range(len(labels))])
        for name, (images, labels) in parts.items()
    }
    return Dataset("cifar100", splits["train"], splits["test"], classes)


def _of_archive(path: Path, form: Form) -> Dataset:
    """Both splits straight out of the archive; nothing is unpacked to the disk."""
    parts = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for split in ("train", "test"):
                member = f"{form.folder}/{split}{form.suffix}"
                file = archive.extractfile(member)
                if file is None:
                    raise KeyError(f"{member} is no file")
                parts[split] = form.read(file.read(), f"{path}: {member}")
    except (tarfile.TarError, KeyError, OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{path} is no archive of CIFAR-100: {error}") from error
    return _assembled(parts)


def _of_folder(folder: Path, form: Form) -> Dataset:
    parts = {}
    for split in ("train", "test"):
        path = folder / f"{split}{form.suffix}"
        if not path.is_file():
            raise NotFoundError(f"{path} is missing: unpack {form.archive.name} again")
        parts[split] = form.read(path.read_bytes(), str(path))
    return _assembled(parts)


def _from_binary(data: bytes, name: str) -> tuple[Pixels, NDArray[np.int64]]:
    """Rows of a coarse label, a fine label and 3 x 32 x 32 values, one byte each."""
    if not data or len(data) % (PIXELS + 2):
        raise FormatError(f"{name} has {len(data)} bytes, no whole number of rows of {PIXELS + 2}")
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, PIXELS + 2)
    return _pictures(rows[:, 2:]), rows[:, 1].astype(np.int64)


def _from_pickle(data: bytes, name: str) -> tuple[Pixels, NDArray[np.int64]]:
    content = load_plain_pickle(data, name)
    try:
        values, labels = content[b"data"], np.array(content[b"fine_labels"], dtype=np.int64)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{name} lacks `data` or `fine_labels`: {error!r}") from error
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != np.uint8
        or values.shape != (len(labels), PIXELS)
    ):
        raise FormatError(f"{name}: `data` is no ({len(labels)}, {PIXELS}) array of bytes")
    return _pictures(values), labels


def _pictures(values: NDArray[np.uint8]) -> Pixels:
    """(n, 3072) planes of red, green and blue -> (n, 32, 32, 3)."""
    return np.ascontiguousarray(values.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))


@dataclass(frozen=True)
class Form:
    """One of the two official archives and how a split in it is read."""

    archive: Archive
    suffix: str
    read: Callable[[bytes, str], tuple[Pixels, NDArray[np.int64]]]

    @property
    def folder(self) -> str:
        return self.archive.name.removesuffix(".tar.gz")


# the binary one first: it needs no pickle
FORMS = (
    Form(
        Archive(
            "cifar-100-binary.tar.gz", HOME + "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"
        ),
        ".bin",
        _from_binary,
    ),
    Form(
        Archive(
            "cifar-100-python.tar.gz", HOME + "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"
        ),
        "",
        _from_pickle,
    ),
)
