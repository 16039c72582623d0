"""The head: 64 bytes that name the format, count acknowledged writes, and hold the writer's lock.

SQLite drops the end of a damaged write-ahead log without a word. So the number of the last acknowledged write is
kept here too, written after the write is durable: a manifest that knows less than the head has lost something.
The same number tells readers, in one read, whether anything is new.
"""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from kinhash.errors import FormatError, NotFoundError, StorageError

NAME = "head"
MAGIC = b"kinindex"
VERSION = 1
_FIELDS = struct.Struct("<8sIIQQII")  # magic, version, bits, commit, manifest bytes, manifest CRC-32, closed
SIZE = 64  # zeros after the fields; the last four bytes are the CRC-32 of the rest
_ATTEMPTS = 100


@dataclass(frozen=True)
class Head:
    """What the head says. `closed`: the writer ended properly, and the manifest has this size and checksum."""

    bits: int
    commit: int
    closed: bool
    manifest_bytes: int = 0
    manifest_crc: int = 0

    def packed(self) -> bytes:
        fields = _FIELDS.pack(
            MAGIC, VERSION, self.bits, self.commit, self.manifest_bytes, self.manifest_crc, self.closed
        )
        body = fields.ljust(SIZE - 4, b"\0")
        return body + struct.pack("<I", zlib.crc32(body))


class HeadFile:
    """The open head of an index."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._handle = os.open(self.path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(
                f"there is no kinhash index at {folder}: the file {NAME!r} is missing. "
                "Create one with Index.create or `kinhash index create`"
            ) from None
        except OSError as error:
            raise StorageError(f"cannot read {self.path}: {error.strerror}") from error
        self._writable: int | None = None

    def read(self) -> Head:
        """The head; a reader that meets the writer in the middle of a write tries again."""
        for _ in range(_ATTEMPTS):
            data = os.pread(self._handle, SIZE + 1, 0)
            if len(data) == SIZE and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little"):
                return _unpacked(data, self.path)
        raise FormatError(
            f"{self.path} is damaged: it does not match its checksum. Restore this file from a backup"
        )

    def lock(self) -> None:
        """Become the only writer, until `close`; the lock of a process that dies is gone with it."""
        if self._writable is not None:
            return
        try:
            handle = os.open(self.path, os.O_RDWR)
        except OSError as error:
            raise StorageError(f"cannot write to {self.path.parent}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise StorageError(
                f"{self.path.parent} has a writer already, another process or another Index object: "
                "close that one first. Reading is possible meanwhile"
            ) from None
        except BaseException:  # interrupted: nobody would know the handle that holds the lock
            os.close(handle)
            raise
        self._writable = handle

    def write(self, head: Head, *, durable: bool = False) -> None:
        assert self._writable is not None
        try:
            os.pwrite(self._writable, head.packed(), 0)
            if durable:
                os.fsync(self._writable)
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from error

    def unlock(self) -> None:
        """Let another writer in."""
        if self._writable is not None:
            os.close(self._writable)
            self._writable = None

    def close(self) -> None:
        """Let go of the lock and of the file."""
        self.unlock()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def create_head(folder: Path, bits: int) -> None:
    """The first head, on the disk when this returns; from now on the folder is an index."""
    with open(folder / NAME, "xb") as file:
        file.write(Head(bits, 0, False).packed())
        file.flush()
        os.fsync(file.fileno())


def _unpacked(data: bytes, path: Path) -> Head:
    magic, version, bits, commit, size, crc, closed = _FIELDS.unpack(data[: _FIELDS.size])
    if magic != MAGIC:
        raise FormatError(f"{path} is not the head of a kinhash index")
    if version > VERSION:
        raise FormatError(
            f"{path.parent} has format {version}; this kinhash reads up to {VERSION}: upgrade kinhash"
        )
    return Head(bits, commit, bool(closed), size, crc)
