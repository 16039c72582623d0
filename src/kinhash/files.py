"""Writing files so that a crash leaves the old one or the new one, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes | memoryview) -> None:
    """Put `data` at `path` in one step, on the disk before its name is."""
    new = path.with_name(path.name + ".new")
    with open(new, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
