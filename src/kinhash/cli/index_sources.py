"""What `kinhash index add` takes: folders of codes, tables of hexadecimal codes, pictures through an encoder."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinhash.codes import CODES_CARD, Codes
from kinhash.data.walking import text_of
from kinhash.errors import FormatError, InputError, KinhashError, NotFoundError
from kinhash.items import ITEMS, CodedItems

if TYPE_CHECKING:
    from kinhash.data.images import Broken
    from kinhash.models.encoder import HashEncoder

_ROWS = 50_000  # acknowledged at once
_PICTURES = 1024


@dataclass
class Batch:
    """Items to be added; `broken` are pictures that could not be read and `rows` says how far the source is done."""

    ids: Any  # texts or integers
    codes: Codes
    metadata: list[dict[str, Any]] | None
    rows: int
    broken: list[Broken] = field(default_factory=list)


@dataclass
class Options:
    """How tables and codes without ids are read."""

    bits: int
    numbers: Sequence[str] = ()
    first_id: int = 0


def holds_codes(source: Path) -> bool:
    """Whether a source is a table or a folder of codes, and needs no encoder."""
    return source.suffix.lower() in _READERS or (source / CODES_CARD).is_file()


def batches(source: Path, options: Options) -> tuple[int | None, Iterator[Batch]]:
    """How many items a source of codes has, where that is known, and the items."""
    if not source.exists():
        raise NotFoundError(f"there is no file or folder {source}")
    if source.is_dir() and holds_codes(source):
        return _saved(source, options)
    if not holds_codes(source):
        what = "a folder without codes.json" if source.is_dir() else "neither .jsonl nor .csv"
        raise InputError(f"{source} is {what}; if it holds pictures, give --encoder FOLDER")
    return None, _table(source, _READERS[source.suffix.lower()](source, options), options)


def picture_batches(source: Path, encoder: HashEncoder) -> tuple[int, Iterator[Batch]]:
    """Pictures below a folder, one picture, or an npy file of embeddings."""
    from kinhash.data.anything import as_split

    split = as_split(source)

    def run() -> Iterator[Batch]:
        for start in range(0, len(split), _PICTURES):
            part = split.take(range(start, min(start + _PICTURES, len(split))))
            made = encoder.encode_all(part)
            paths = part.images if isinstance(part.images, list) else None
            metadata = None if paths is None else [_where(paths[i]) for i in made.positions]
            yield Batch(
                made.ids,
                made.codes,
                metadata,
                len(part),
                made.broken if start else [*split.broken, *made.broken],
            )

    return len(split), run()


def _where(path: Any) -> dict[str, str]:
    """What lets a server find the picture, wherever it is started."""
    return {"path": text_of(os.path.abspath(path))}


def _saved(folder: Path, options: Options) -> tuple[int, Iterator[Batch]]:
    items = CodedItems.load(folder)
    named = (folder / ITEMS).is_file()
    first = options.first_id
    if not named and not -(2**63) <= first <= 2**63 - max(1, len(items.codes)):
        raise InputError(
            f"--first-id {first} numbers {len(items.codes)} codes beyond 64 signed bits: choose one nearer to 0"
        )

    def run() -> Iterator[Batch]:
        for start in range(0, len(items.codes), _ROWS):
            codes = items.codes[start : start + _ROWS]
            stop = start + len(codes)
            numbered = np.arange(start, stop) + np.int64(first if not named else 0)
            labels = None if items.labels is None else [{"label": name} for name in items.labels[start:stop]]
            yield Batch(items.ids[start:stop] if named else numbered, codes, labels, len(codes))

    return len(items.codes), run()


# ---- tables: rows of (line, id, code, metadata) --------------------------------------------------------

Row = tuple[int, Any, Any, dict[str, Any]]


def _table(source: Path, rows: Iterable[Row], options: Options) -> Iterator[Batch]:
    rows = iter(rows)
    while part := list(islice(rows, _ROWS)):
        codes = [code for _, _, code, _ in part]
        try:
            made = Codes.from_hex(codes, options.bits)
        except KinhashError:
            for line, _, code, _ in part:
                _one_code(source, line, code, options.bits)
            raise
        yield Batch([name for _, name, _, _ in part], made, [item for *_, item in part], len(part))


def _one_code(source: Path, line: int, code: Any, bits: int) -> None:
    """The error of the first line whose code is wrong."""
    if not isinstance(code, str):
        raise FormatError(f"{source}, line {line}: the code is no text of hexadecimal digits, but {code!r}")
    try:
        Codes.from_hex([code], bits)
    except KinhashError as error:
        raise FormatError(f"{source}, line {line}: {str(error).replace('item 0 ', 'the code ')}") from None


def _json_rows(source: Path, options: Options) -> Iterator[Row]:
    with _opened(source) as file:
        for line, text in enumerate(_lines(source, file), 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except ValueError as error:
                raise FormatError(f"{source}, line {line} is not json: {error}") from None
            except RecursionError:
                raise FormatError(f"{source}, line {line} is nested too deeply: flatten it") from None
            if not isinstance(row, dict) or "id" not in row or "code" not in row:
                raise FormatError(f'{source}, line {line}: expected an object with "id" and "code"')
            yield line, row.pop("id"), row.pop("code"), row


def _csv_rows(source: Path, options: Options) -> Iterator[Row]:
    with _opened(source) as file:
        reader = csv.DictReader(_lines(source, file), strict=True)
        try:
            header = reader.fieldnames or []
            for name in ("id", "code", *options.numbers):
                if name not in header:
                    raise FormatError(
                        f"{source} has no column {name!r}; its first line names {', '.join(header)}"
                    )
            if twice := sorted({name for name in header if header.count(name) > 1}):
                raise FormatError(f"{source} has the column {twice[0]!r} twice: rename one of them")
            for row in reader:
                line = reader.line_num
                if None in row or None in row.values():
                    raise FormatError(f"{source}, line {line}: {len(header)} cells were expected")
                name, code = row.pop("id"), row.pop("code")
                item = {key: _cell(source, line, key, value, options) for key, value in row.items() if value}
                yield line, name, code, item
        except csv.Error as error:
            raise FormatError(f"{source} is not csv after line {reader.line_num}: {error}") from None


def _cell(source: Path, line: int, key: str, value: str, options: Options) -> Any:
    if key not in options.numbers:
        return value
    try:
        number = json.loads(value)
    except (ValueError, RecursionError):
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise FormatError(f"{source}, line {line}: {key} is {value!r}, which is no number")
    return number


def _opened(source: Path) -> Any:
    try:
        return open(source, newline="", encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{source} cannot be read: {error.strerror}") from error


def _lines(source: Path, file: Iterable[str]) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise FormatError(f"{source} is not UTF-8: {error}") from error


_READERS = {".jsonl": _json_rows, ".csv": _csv_rows}
