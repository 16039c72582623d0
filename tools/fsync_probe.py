"""Counts the fsyncs of a Python process, and can make each take a given time; needs Linux and a C compiler."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path


def available() -> bool:
    return sys.platform == "linux" and shutil.which("cc") is not None


def environment(folder: Path, microseconds: int | None = None) -> dict[str, str]:
    """The variables under which a process is counted; its files go into `folder`."""
    library, counter = folder / "fsync_probe.so", folder / "fsync_count"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    counter.write_bytes(bytes(8))
    variables = {**os.environ, "LD_PRELOAD": str(library), "FSYNC_COUNT": str(counter)}
    return variables if microseconds is None else {**variables, "FSYNC_MICROSECONDS": str(microseconds)}


class Count:
    """Inside a process that runs in such an environment: how many fsyncs there were."""

    def __init__(self) -> None:
        with open(os.environ["FSYNC_COUNT"], "rb") as file:
            self._page = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)

    def read(self) -> int:
        return int.from_bytes(self._page[:8], "little")
