"""Parquet files with pictures inside, in the layout of Hugging Face: a column of {bytes, path} and columns of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kinhash.errors import FormatError

PICTURES = ("img", "image", "picture")


def parquet_files(folder: Path, split: str) -> list[Path]:
    """`split.parquet`, `split-00000-of-00002.parquet`, ..., in order; also below `data/`."""
    return sorted(
        path
        for place in (folder, folder / "data")
        for pattern in (f"{split}.parquet", f"{split}-*.parquet")
        for path in place.glob(pattern)
    )


def read_parquet(paths: Sequence[Path]) -> pa.Table:
    """All rows of the files, one after the other."""
    try:
        return pa.concat_tables([pq.read_table(path) for path in paths])
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{paths[0]} cannot be read as parquet: {error}") from error


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns, without reading any row."""
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{path} cannot be read as parquet: {error}") from error


def picture_bytes(table: pa.Table, name: str) -> tuple[list[bytes], list[str | None]]:
    """The encoded pictures of a table and the paths they once had."""
    column = next((column for column in PICTURES if column in table.column_names), None)
    if column is None:
        raise FormatError(f"{name} has none of the picture columns {', '.join(PICTURES)}")
    values = table.column(column).combine_chunks()
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        return [value or b"" for value in values.to_pylist()], [None] * len(values)
    if not pa.types.is_struct(values.type) or "bytes" not in values.type.names:
        raise FormatError(f"{name}: column {column!r} holds {values.type} instead of the bytes of pictures")
    paths: list[Any] = (
        values.field("path").to_pylist() if "path" in values.type.names else [None] * len(values)
    )
    return [value or b"" for value in values.field("bytes").to_pylist()], paths


def labelled_pictures(
    folder: Path, part: str, column: str
) -> tuple[list[bytes], list[str | None], list[Any]]:
    """The encoded pictures of a part of a data set, the paths they once had, and the values of the column of labels."""
    paths = parquet_files(folder, part)
    table, name = read_parquet(paths), str(paths[0])
    return *picture_bytes(table, name), column_values(table, column, name)


def column_values(table: pa.Table, column: str, name: str) -> list[Any]:
    """One column as a list; a missing column or value is an error."""
    if column not in table.column_names:
        raise FormatError(f"{name} has no column {column!r}; it has {', '.join(table.column_names)}")
    values = table.column(column)
    if values.null_count:
        raise FormatError(f"{name}: column {column!r} lacks a value in {values.null_count} rows")
    return values.to_pylist()
