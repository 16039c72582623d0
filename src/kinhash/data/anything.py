"""Whatever a caller may hold -> a `Split`: paths, folders, pictures, arrays, embeddings, data sets, or a split as it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kinhash.data.embeddings import embeddings, holds_embeddings, load_array
from kinhash.data.images import Broken, FilePart, Source
from kinhash.data.splits import Dataset, Split
from kinhash.data.walking import text_of, walk
from kinhash.errors import InputError, NotFoundError

TABLES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"})


def as_split(things: Any) -> Split:
    """One picture or row of numbers, several of them, a folder (all pictures below it), an npy file, or a data set.

    Ids are paths where there are any (below a folder: relative ones), else positions.
    """
    if isinstance(things, Split):
        return things
    if isinstance(things, Dataset):
        return things.whole()
    if isinstance(things, str | os.PathLike):
        return _path(Path(things))
    if isinstance(things, bytes | FilePart | Image.Image):
        return Split(images=[things])
    if isinstance(things, Sequence):
        return _sequence(things)
    return _array(np.asarray(things.detach().cpu() if hasattr(things, "detach") else things))


def _path(path: Path) -> Split:
    if path.is_file():
        return _file(path)
    if not path.is_dir():
        raise NotFoundError(f"there is no file or folder {path}")
    found = walk(path)
    if not found.files:
        raise InputError(f"{path} holds no pictures: no file below it has one of the usual suffixes")
    return Split(
        images=[path / file.path for file in found.files],
        ids=[text_of(file.path) for file in found.files],
        broken=[Broken(text_of(passed.path), passed.reason) for passed in found.passed_over],
    )


def _file(path: Path) -> Split:
    if path.suffix == ".npy":
        return _array(load_array(path))
    if path.suffix in TABLES and not holds_embeddings(path):
        raise InputError(
            f"{path} is a list of things: open it with kh.dataset(PATH), on the command line with --part all"
        )
    return embeddings(path).train if path.suffix in TABLES else Split(images=[path], ids=[text_of(str(path))])


def _sequence(things: Sequence[Any]) -> Split:
    if things and np.ndim(things[0]) == 0 and isinstance(things[0], int | float | np.number):
        return _array(np.asarray(things))
    if things and isinstance(things[0], list | tuple):
        return _array(np.asarray(things, dtype=np.float32))
    if things and isinstance(things[0], np.ndarray) and things[0].ndim == 1:
        return _array(np.stack(things))
    sources: list[Source] = []
    for i, thing in enumerate(things):
        if not isinstance(thing, str | os.PathLike | bytes | FilePart | Image.Image | np.ndarray):
            raise InputError(
                f"element {i} is a {type(thing).__name__}: neither a path, a picture nor an array"
            )
        sources.append(thing)
    return Split(images=sources, ids=_ids(sources))


def _ids(sources: Sequence[Source]) -> list[str]:
    """The paths where all are paths and differ, else positions."""
    if not all(isinstance(source, str | os.PathLike) for source in sources):
        return [str(i) for i in range(len(sources))]
    paths = [text_of(os.fspath(source)) for source in sources]  # type: ignore[arg-type]  # all are paths here
    return paths if len(set(paths)) == len(paths) else [str(i) for i in range(len(sources))]


def _array(array: NDArray[Any]) -> Split:
    if array.dtype == np.uint8 and array.ndim == 4 and array.shape[3] == 3:
        return Split(images=array)
    if array.dtype == np.uint8 and array.ndim in (2, 3):
        return Split(images=[array])
    if array.ndim == 1 and array.size and array.dtype.kind in "fiu":
        array = array[None]
    if array.ndim == 2:
        return Split(vectors=array.astype(np.float32, copy=False))
    raise InputError(
        f"an array of shape {array.shape} and {array.dtype} is neither pictures (uint8, (n, h, w, 3) or (h, w, 3)) "
        "nor embeddings ((n, d) numbers)"
    )
