"""Rows with named values, out of a csv, tsv, jsonl or parquet file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinhash.data.picture_tables import read_parquet
from kinhash.errors import FormatError, InputError, NotFoundError

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of a csv, tsv, jsonl or parquet file, by the names of their columns."""
    if not path.is_file():
        raise NotFoundError(f"there is no manifest {path}")
    kind = path.suffix.lower()
    try:
        if kind in (".csv", ".tsv"):
            with wide_fields(), path.open(newline="", encoding="utf-8-sig") as lines:
                return list(csv.DictReader(lines, delimiter="\t" if kind == ".tsv" else ",", strict=True))
        if kind in (".jsonl", ".ndjson"):
            return _json_lines(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} cannot be read as {kind[1:]}: {error}") from error
    if kind == ".parquet":
        return read_parquet([path]).to_pylist()
    raise InputError(f"{path}: a manifest is a csv, tsv, jsonl or parquet file")


@contextmanager
def wide_fields() -> Iterator[None]:
    """Lets the csv module read cells of any length: a caption may be long."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


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
