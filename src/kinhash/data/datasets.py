"""`dataset`: data sets by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from kinhash.data.cifar import cifar100, cifar100_sample
from kinhash.data.embeddings import embeddings
from kinhash.data.folders import image_folder, imagenet, tiny_imagenet
from kinhash.data.manifests import manifest
from kinhash.data.splits import Dataset
from kinhash.errors import InputError

_READERS: Mapping[str, Callable[..., Dataset]] = {
    "cifar100": cifar100,
    "cifar100-sample": cifar100_sample,
    "embeddings": embeddings,
    "folder": image_folder,
    "imagenet": imagenet,
    "manifest": manifest,
    "tiny-imagenet": tiny_imagenet,
}
_NEED_ROOT = ("embeddings", "folder", "manifest")


def dataset(name: str, root: str | os.PathLike[str] | None = None, **options: Any) -> Dataset:
    """The data set `name`, read from `root`.

    "cifar100", "imagenet", "tiny-imagenet": `root` is their folder or the one above; without it $KINHASH_DATA and
    the cache are searched. "cifar100-sample" comes with the package. "folder" (a folder per class), "manifest" (csv,
    jsonl, parquet), "embeddings" (npy, parquet): your own. Options are those of the function that reads it.
    """
    if name not in _READERS:
        raise InputError(f"there is no data set {name!r}; known are {', '.join(_READERS)}")
    if root is None and name in _NEED_ROOT:
        raise InputError(f"data set {name!r} needs root=PATH, the file or folder to read")
    try:
        return _READERS[name](root, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(f"data set {name!r}: {error}") from error
