"""Writing files so that a crash leaves the old one or the new one, never a mixture."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Another path, to write what is to stand at `path`; it is put there in one step, on the disk before its name is.

    After an error nothing has changed, and what was written is gone.
    """
    new = path.with_name(path.name + ".new")
    try:
        yield new
        with open(new, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def replace_file(path: Path, data: bytes | memoryview) -> None:
    """Put `data` at `path`, as `replacing` does."""
    with replacing(path) as new:
        new.write_bytes(data)
