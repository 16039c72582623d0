"""A folder of small pictures, made once: bounded in size, the ones that were not used for longest go first."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kinhash.data.download import cache_folder
from kinhash.files import replace_file

_EVERY = 64  # files written between two looks at the size of the folder


class Cache:
    """Files by name. A disk that is full or read-only costs only the saving: `get` then finds nothing."""

    def __init__(self, folder: Path, most_bytes: int = 512 * 2**20) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._written = 0

    def get(self, name: str) -> bytes | None:
        path = self.folder / name
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return content

    def put(self, name: str, content: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / name, content)
        except OSError:
            return
        self._written += 1
        if self._written % _EVERY == 1:
            self._shrink()

    def _shrink(self) -> None:
        """Delete the oldest files until the folder is small enough again."""
        found = []
        for path in self.folder.glob("*.*"):
            with suppress(OSError):
                state = path.stat()
                found.append((state.st_mtime_ns, state.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._most_bytes:
                break
            with suppress(OSError):
                path.unlink()
            total -= size


def default_folder() -> Path:
    """Where it lies unless one is named."""
    return cache_folder() / "thumbnails"
