"""Where data sets lie, and how an archive comes there: checked, and in one step."""

from __future__ import annotations

import hashlib
import http.client
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kinhash.errors import FormatError, NotFoundError, StorageError

_log = logging.getLogger("kinhash")
_BLOCK = 1 << 20


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
    """The archive in `folder`, downloaded unless it is there; a file with another checksum is never left under its name."""
    path = folder / archive.name
    if path.exists():
        verify(path, archive.md5)
        return path
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _log.info("downloading %s to %s", archive.url, path)
        _receive(archive.url, part, timeout)
        verify(part, archive.md5)
        os.replace(part, path)
    except FormatError as error:
        raise FormatError(f"what {archive.url} sent is not {archive.name}: {error}") from error
    except (
        http.client.HTTPException,
        TimeoutError,
        ConnectionError,
        urllib.error.URLError,
        ValueError,
    ) as error:
        raise NotFoundError(f"{archive.url} could not be downloaded: {error}") from error
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return path


def absent(name: str, searched: Sequence[Path], wanted: str, reason: str = "") -> NotFoundError:
    """The error that says what was looked for, where, and what to put there."""
    where = " or ".join(str(place) for place in searched)
    return NotFoundError(f"{name} was not found in {where}: put {wanted} there{reason}")


def _receive(url: str, path: Path, timeout: float) -> None:
    with urllib.request.urlopen(url, timeout=timeout) as answer, open(path, "wb") as file:
        expected = answer.headers.get("Content-Length")
        while block := answer.read(_BLOCK):
            file.write(block)
        if expected is not None and file.tell() != int(expected):
            raise http.client.IncompleteRead(b"", int(expected) - file.tell())
        file.flush()
        os.fsync(file.fileno())
