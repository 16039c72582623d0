"""Tiny captioned pictures, in tars and folders."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image


def picture(shade: int, size: tuple[int, int] = (6, 4)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (shade, 0, 0)).save(out, "PNG")
    return out.getvalue()


def write_tar(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_folder(path: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path
