"""Segment files: immutable columns, memory-mapped, every 256 KiB of them under a checksum.

    64 bytes    header: magic, version, rows, where the directory lies, its CRC-32, and the CRC-32 of the header
    columns     each begins at a multiple of 4096 bytes; little-endian
    directory   json: attributes of the segment, and for every column its type, place and block checksums

A block is checked when a process first touches it, so opening costs nothing and nothing unchecked is used.
`docs/format.md` describes the format completely.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError, StorageError

MAGIC = b"kinhash\n"
VERSION = 1
BLOCK = 1 << 18  # bytes under one checksum: small enough for one lookup, large enough for one search
ALIGN = 4096
_HEADER = struct.Struct("<8sIQQQI")  # magic, version, rows, directory offset, its length, its checksum
_HEADER_BYTES = 64


@dataclass(frozen=True)
class NewColumn:
    """A column to be written: its parts follow each other; `width` is None for a flat column."""

    dtype: str
    parts: Iterable[NDArray[Any]]
    width: int | None = None


class Readable(Protocol):
    """What a reader of columns needs; `Column` on the disk and `ArrayColumn` in memory offer it."""

    def __len__(self) -> int: ...
    def all(self) -> NDArray[Any]: ...
    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]: ...
    def span(self, start: int, stop: int) -> NDArray[Any]: ...


class ArrayColumn:
    """A column that was never written."""

    def __init__(self, column: NewColumn) -> None:
        parts = [np.asarray(part, dtype=column.dtype) for part in column.parts]
        self._values = parts[0] if len(parts) == 1 else np.concatenate(parts)

    def __len__(self) -> int:
        return len(self._values)

    def all(self) -> NDArray[Any]:
        return self._values

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._values[rows]

    def span(self, start: int, stop: int) -> NDArray[Any]:
        return self._values[start:stop]


class Column:
    """A column of a mapped segment; every way to its values passes through the checksums."""

    def __init__(self, raw: NDArray[np.uint8], entry: Mapping[str, Any], file: Path, name: str) -> None:
        self._file, self._name = file, name
        self._checksums: list[int] = entry["checksums"]
        self._raw = raw[entry["offset"] : entry["offset"] + entry["bytes"]]
        width = entry["width"]
        flat = self._raw.view(entry["dtype"])
        self._values: NDArray[Any] = flat if width is None else flat.reshape(-1, width)
        self._row_bytes = flat.itemsize * (width or 1)
        self._checked = np.zeros(len(self._checksums), dtype=np.bool_)
        self._whole = len(self._checksums) == 0

    def __len__(self) -> int:
        return len(self._values)

    def all(self) -> NDArray[Any]:
        """Every row."""
        if not self._whole:
            self._check(np.flatnonzero(~self._checked))
            self._whole = True
        return self._values

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows; only the blocks they lie in are read."""
        if not self._whole and len(rows):
            first = rows * self._row_bytes // BLOCK
            last = ((rows + 1) * self._row_bytes - 1) // BLOCK
            blocks = np.unique(np.concatenate([first, last]))
            self._check(blocks[~self._checked[blocks]])
        return self._values[rows]

    def span(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop."""
        if not self._whole and stop > start:
            first, last = start * self._row_bytes // BLOCK, (stop * self._row_bytes - 1) // BLOCK
            self._check(first + np.flatnonzero(~self._checked[first : last + 1]))
        return self._values[start:stop]

    def _check(self, blocks: NDArray[np.int64]) -> None:
        if len(blocks) < 32:
            for block in blocks:
                self._check_block(int(block))
        else:  # zlib lets go of the interpreter lock
            with ThreadPoolExecutor() as pool:
                list(pool.map(self._check_block, blocks.tolist()))

    def _check_block(self, block: int) -> None:
        part = self._raw[block * BLOCK : (block + 1) * BLOCK]
        if zlib.crc32(part.data) != self._checksums[block]:
            raise FormatError(
                f"{self._file} is damaged: block {block} of column {self._name!r} does not match its checksum. "
                "Restore this file from a backup, or build the index anew"
            )
        self._checked[block] = True


class SegmentFile:
    """An open segment: `attributes` as written, `columns` by name."""

    def __init__(self, path: Path, checksum: int) -> None:
        raw = _mapped(path)
        self.path = path
        self.checksum = checksum
        self.nbytes = len(raw)
        self.rows, directory = _directory(path, raw, checksum)
        self.attributes: dict[str, Any] = directory["attributes"]
        self.columns = {name: Column(raw, entry, path, name) for name, entry in directory["columns"].items()}
        self._gaps = (raw, sorted((e["offset"], e["bytes"]) for e in directory["columns"].values()))

    def verify(self) -> int:
        """Read every byte, also those already checked; returns how many. The padding must be zero."""
        for column in self.columns.values():
            column._whole = False
            column._checked[:] = False
            column.all()
        raw, spans = self._gaps
        end = _HEADER_BYTES
        for offset, length in spans:
            if raw[end:offset].any():
                raise FormatError(f"{self.path} is damaged: the padding before byte {offset} is not zero")
            end = offset + length
        return self.nbytes


def write_segment(
    path: Path, rows: int, attributes: Mapping[str, Any], columns: Mapping[str, NewColumn]
) -> int:
    """Write a segment and return the checksum that identifies it; it is on the disk when this returns."""
    try:
        with open(path, "xb") as file:
            checksum = _write(file, rows, attributes, columns)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StorageError(
                f"cannot write {path}: {error.strerror or error}. Nothing was changed"
            ) from error
        raise
    return checksum


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(file: BinaryIO, rows: int, attributes: Mapping[str, Any], columns: Mapping[str, NewColumn]) -> int:
    file.write(bytes(_HEADER_BYTES))
    entries = {}
    for name, column in columns.items():
        file.write(bytes(-file.tell() % ALIGN))
        entries[name] = _write_column(file, column)
    offset = file.tell()
    directory = json.dumps({"attributes": attributes, "columns": entries}, separators=(",", ":")).encode()
    file.write(directory)
    head = _HEADER.pack(MAGIC, VERSION, rows, offset, len(directory), zlib.crc32(directory))
    file.seek(0)
    file.write(head + struct.pack("<I", zlib.crc32(head)))
    return zlib.crc32(head)


def _write_column(file: BinaryIO, column: NewColumn) -> dict[str, Any]:
    offset, checksums, crc, filled = file.tell(), [], 0, 0
    for part in column.parts:
        view = np.ascontiguousarray(part, dtype=column.dtype).data.cast("B") if part.size else memoryview(b"")
        file.write(view)
        while len(view):
            piece = view[: BLOCK - filled]
            crc, filled, view = zlib.crc32(piece, crc), filled + len(piece), view[len(piece) :]
            if filled == BLOCK:
                checksums.append(crc)
                crc, filled = 0, 0
    if filled:
        checksums.append(crc)
    size = file.tell() - offset
    return {
        "dtype": column.dtype,
        "width": column.width,
        "offset": offset,
        "bytes": size,
        "checksums": checksums,
    }


def _mapped(path: Path) -> NDArray[np.uint8]:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < _HEADER_BYTES:
                raise FormatError(f"{path} is damaged: it is shorter than a header")
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
    except FileNotFoundError as error:
        raise FormatError(
            f"{path} is missing, though the manifest names it. Restore this file from a backup"
        ) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def _stored_checksum(raw: NDArray[np.uint8]) -> int:
    return int.from_bytes(raw[_HEADER.size : _HEADER.size + 4].tobytes(), "little")


def _directory(path: Path, raw: NDArray[np.uint8], checksum: int) -> tuple[int, dict[str, Any]]:
    """Rows and directory of a mapped segment whose header has this checksum."""
    head = raw[: _HEADER.size].tobytes()
    magic, version, rows, offset, length, directory_crc = _HEADER.unpack(head)
    if magic != MAGIC:
        raise FormatError(f"{path} is no segment of a kinhash index, or its first bytes are damaged")
    if zlib.crc32(head) != _stored_checksum(raw) or raw[_HEADER.size + 4 : _HEADER_BYTES].any():
        raise FormatError(f"{path} is damaged: the header does not match its checksum")
    if version > VERSION:
        raise FormatError(f"{path} has format {version}; this kinhash reads up to {VERSION}: upgrade kinhash")
    if zlib.crc32(head) != checksum:
        raise FormatError(f"{path} is not the segment that the manifest names: it was swapped or is damaged")
    if offset + length != len(raw):
        raise FormatError(f"{path} is damaged: it has {len(raw)} bytes, the header says {offset + length}")
    text = raw[offset:].tobytes()
    if zlib.crc32(text) != directory_crc:
        raise FormatError(f"{path} is damaged: the directory does not match its checksum")
    return rows, json.loads(text)
