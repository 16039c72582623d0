"""Embeddings as data: npy files with labels beside them, or parquet with a column of vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kinhash.arrays import finite_rows
from kinhash.data.labels import numbered
from kinhash.data.picture_tables import column_values, parquet_columns, read_parquet
from kinhash.data.splits import TEST_NAMES, TRAIN_NAMES, Dataset, Split
from kinhash.errors import FormatError, InputError, NotFoundError

VECTORS = ("embedding", "embeddings", "vector", "features")
SUFFIXES = (".npy", ".parquet")


def embeddings(root: str | os.PathLike[str], classes: Sequence[str] | None = None) -> Dataset:
    """A file of embeddings (the training part), or a folder with `train.npy|parquet` and `test|val.npy|parquet`.

    An npy file holds (n, d) numbers; `NAME_labels.npy` beside `NAME.npy` holds its labels. A parquet file has a
    column `embedding` (or `embeddings`, `vector`, `features`) and, as they apply, `label` and `id`. `classes` names
    the classes of labels that are numbers.
    """
    path = Path(root)
    files = [path]
    if path.is_dir():
        train, test = _part(path, TRAIN_NAMES), _part(path, TEST_NAMES)
        if train is None:
            raise NotFoundError(f"{path} holds no train.npy and no train.parquet")
        files = [train] if test is None else [train, test]
    parts = [_read(file) for file in files]
    labels, names = numbered([part[1] for part in parts], classes, str(path))
    splits = [
        Split(vectors=vectors, labels=numbers, classes=names, ids=ids)
        for (vectors, _, ids), numbers in zip(parts, labels, strict=True)
    ]
    if len(splits) == 1:
        splits.append(splits[0].take([]))
    return Dataset("embeddings", splits[0], splits[1], names)


def holds_embeddings(path: Path) -> bool:
    """Whether `embeddings` is what reads this file or folder: npy, or parquet with a column of vectors."""
    if path.is_dir():
        train = _part(path, TRAIN_NAMES)
        return train is not None and holds_embeddings(train)
    if path.suffix == ".parquet":
        return bool(set(VECTORS) & set(parquet_columns(path)))
    return path.suffix == ".npy"


def _part(folder: Path, names: Sequence[str]) -> Path | None:
    candidates = (folder / f"{name}{suffix}" for name in names for suffix in SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def _read(path: Path) -> tuple[NDArray[np.float32], list[Any] | None, list[str]]:
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    if path.suffix == ".npy":
        beside = path.with_name(f"{path.stem}_labels.npy")
        labels = load_array(beside).tolist() if beside.is_file() else None
        return finite_rows(load_array(path), str(path), np.float32), labels, []
    if path.suffix == ".parquet":
        return _from_parquet(path)
    raise InputError(f"{path} is neither npy nor parquet: save embeddings with numpy.save")


def load_array(path: Path) -> NDArray[Any]:
    """The array of an npy file, mapped; a file that holds Python objects is refused."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FormatError(f"{path} cannot be read as an npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise FormatError(f"{path} is no npy file of one array")
    return array


def _from_parquet(path: Path) -> tuple[NDArray[np.float32], list[Any] | None, list[str]]:
    table = read_parquet([path])
    column = next((name for name in VECTORS if name in table.column_names), None)
    if column is None:
        raise FormatError(f"{path} has none of the columns {', '.join(VECTORS)}")
    ids = (
        [str(value) for value in column_values(table, "id", str(path))] if "id" in table.column_names else []
    )
    labels = column_values(table, "label", str(path)) if "label" in table.column_names else None
    return _stacked(table.column(column).combine_chunks(), path, column), labels, ids


def _stacked(values: pa.Array, path: Path, column: str) -> NDArray[np.float32]:
    kinds = (pa.types.is_list, pa.types.is_fixed_size_list, pa.types.is_large_list)
    if not any(kind(values.type) for kind in kinds):
        raise FormatError(f"{path}: column {column!r} holds {values.type} instead of lists of numbers")
    lengths = set(values.value_lengths().to_pylist())
    if len(lengths) != 1 or None in lengths:
        raise FormatError(
            f"{path}: the vectors in column {column!r} differ in length: {sorted(lengths, key=str)[:3]}"
        )
    flat = values.flatten().to_numpy(zero_copy_only=False)
    return finite_rows(flat.reshape(len(values), -1), f"{path}, column {column!r},", np.float32)


__all__ = ["embeddings", "holds_embeddings", "load_array"]
