"""`dataset`: data sets by name, or whatever lies at a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kinhash.data.captioned import captioned, has_texts
from kinhash.data.cifar import cifar100, cifar100_sample
from kinhash.data.conceptual import conceptual_captions, is_conceptual
from kinhash.data.embeddings import embeddings, holds_embeddings
from kinhash.data.folders import image_folder, imagenet, tiny_imagenet
from kinhash.data.manifests import is_manifest, listed_captions, manifest
from kinhash.data.splits import Dataset
from kinhash.errors import InputError, NotFoundError

_READERS: Mapping[str, Callable[..., Dataset]] = {
    "cifar100": cifar100,
    "cifar100-sample": cifar100_sample,
    "captioned": captioned,
    "conceptual-captions": conceptual_captions,
    "embeddings": embeddings,
    "folder": image_folder,
    "imagenet": imagenet,
    "manifest": manifest,
    "tiny-imagenet": tiny_imagenet,
}
_NEED_ROOT = ("captioned", "conceptual-captions", "embeddings", "folder", "manifest")


def dataset(
    name: str | os.PathLike[str], root: str | os.PathLike[str] | None = None, **options: Any
) -> Dataset:
    """The data set `name`, read from `root`; or what lies at a path, which is then the only argument.

    "cifar100", "imagenet", "tiny-imagenet": `root` is their folder or the one above; without it $KINHASH_DATA and
    the cache are searched. "cifar100-sample" comes with the package. "folder" (a folder per class), "manifest" (csv,
    jsonl, parquet), "embeddings" (npy, parquet), "captioned" (WebDataset tars, or a text beside every picture) and
    "conceptual-captions" (tsv of captions and urls): your own; a path in place of the name is taken for one of these
    by what it holds. Options are those of the function that reads it.
    """
    if name not in _READERS:
        name, root = _kind_of(name, root)
    if root is None and name in _NEED_ROOT:
        raise InputError(f"data set {name!r} needs root=PATH, the file or folder to read")
    try:
        return _READERS[str(name)](root, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(f"data set {name!r}: {error}") from error


def _kind_of(
    name: str | os.PathLike[str], root: str | os.PathLike[str] | None
) -> tuple[str, str | os.PathLike[str]]:
    """Which of one's own kinds of data the path `name` holds, and the file or folder to read."""
    known = f"known names are {', '.join(_READERS)}"
    if root is not None:
        raise InputError(
            f"there is no data set {os.fspath(name)!r}; {known}. A path is given alone, without root"
        )
    path = Path(name)
    if not path.exists():
        raise NotFoundError(
            f"there is no data set {os.fspath(name)!r}, and no file or folder of that name; {known}"
        )
    if holds_embeddings(path):
        return "embeddings", path
    if path.is_dir():
        listed = listed_captions(path)
        if listed is not None:
            return "manifest", listed
        return "captioned" if has_texts(path) else "folder", path
    if path.suffix.lower() == ".tar":
        return "captioned", path
    if is_conceptual(path):
        return "conceptual-captions", path
    if is_manifest(path):
        return "manifest", path
    raise InputError(
        f"{path} is neither a folder of pictures, nor a manifest (csv, tsv, jsonl, parquet), nor embeddings (npy, "
        "parquet), nor an uncompressed tar of pictures and texts"
    )
