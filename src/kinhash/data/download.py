"""Where data sets lie, and how an archive comes there: checked, and in one step."""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kinhash.errors import FormatError, NotFoundError, StorageError

_log = logging.getLogger("kinhash")
_BLOCK = 1 << 20
# what may go wrong on the way, as against on the disk
_BROKEN = (http.client.HTTPException, TimeoutError, ConnectionError, urllib.error.URLError)


@dataclass(frozen=True)
class Archive:
    """A file on the network and the MD5 by which its publisher names it."""

    name: str
    url: str
    md5: str


def places(name: str, root: str | os.PathLike[str] | None) -> list[Path]:
    """Folders where data set `name` may lie: `root` and `root/name`, or without a root $KINHASH_DATA and the cache."""
    if root is not None:
        return [Path(root), Path(root) / name]
    given = os.environ.get("KINHASH_DATA")
    return [*([Path(given) / name] if given else []), cache_folder() / name]


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/kinhash, by default ~/.cache/kinhash."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kinhash"


def verify(path: Path, md5: str) -> None:
    """Raise a `FormatError` unless the file's MD5 is `md5`."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != md5:
        raise FormatError(
            f"{path} is damaged or incomplete (MD5 {digest.hexdigest()} instead of {md5}): remove it and try again"
        )


def fetch(archive: Archive, folder: Path, timeout: float = 30.0) -> Path:
    """The archive in `folder`, downloaded unless it is there; a file with another checksum is never left under its name.

    A connection that breaks is taken up again where it broke, at once if it brought anything, else by the next call.
    """
    path = folder / archive.name
    part = path.with_name(f"{path.name}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with open(part, "ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # of several processes one downloads, the others wait
                if not path.exists():
                    _log.info("downloading %s to %s", archive.url, path)
                    _receive_all(archive.url, file, timeout)
                    _checked(part, archive)
                    os.replace(part, path)
        part.unlink(missing_ok=True)
        verify(path, archive.md5)
    except _BROKEN as error:
        if part.exists() and not part.stat().st_size:
            part.unlink()
        raise NotFoundError(f"{archive.url} could not be downloaded: {error}") from error
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
    return path


def absent(name: str, searched: Sequence[Path], wanted: str, reason: str = "") -> NotFoundError:
    """The error that says what was looked for, where, and what to put there."""
    where = " or ".join(str(place) for place in searched)
    return NotFoundError(f"{name} was not found in {where}: put {wanted} there{reason}")


def _receive_all(url: str, file: BinaryIO, timeout: float) -> None:
    """Everything that is missing from `file`, in as many connections as it takes while each brings something."""
    while True:
        before = _size(file)
        try:
            _receive(url, file, timeout)
            return
        except urllib.error.HTTPError as error:
            if not (before and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE):
                raise
            file.truncate(0)  # what is there is longer than the file: begin again
        except _BROKEN:
            if _size(file) <= before:
                raise


def _receive(url: str, file: BinaryIO, timeout: float) -> None:
    start = _size(file)
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        if start and answer.status != http.client.PARTIAL_CONTENT:
            file.truncate(0)  # a server that sends everything again
        expected, got = answer.headers.get("Content-Length"), 0
        while block := answer.read1(_BLOCK):
            got += file.write(block)
        file.flush()
        if expected is not None and got != int(expected):
            raise http.client.IncompleteRead(b"", int(expected) - got)
        os.fsync(file.fileno())


def _size(file: BinaryIO) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _checked(part: Path, archive: Archive) -> None:
    """A wrong file is removed: there is nothing in it to go on from."""
    try:
        verify(part, archive.md5)
    except FormatError as error:
        part.unlink()
        raise FormatError(f"what {archive.url} sent is not {archive.name}: {error}") from error
