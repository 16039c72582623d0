"""The folder that the demo fills: only ever an absent one, an empty one, or one that an earlier demo filled."""

from __future__ import annotations

import shutil
from pathlib import Path

from kinhash.errors import InputError, StorageError

MARK = "demo.json"  # the file by which a demo knows its own folder; written first
PARTS = ("codes", "encoder", "pictures.kin", "report.json", "report.md", "curves.png", "searches.png", MARK)


def fresh_folder(path: Path) -> Path:
    """`path` as an empty folder; one that holds anything but an earlier demo's output is left alone."""
    try:
        if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MARK).is_file())):
            raise InputError(
                f"{path} exists and is not the output of an earlier demo; name another folder with --out"
            )
        path.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            _remove(path / part)
        (path / MARK).write_text("{}\n")
    except OSError as error:
        raise StorageError(f"cannot write the demo's output to {path}: {error}") from error
    return path


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
