"""Pictures that leave the server are small copies made by it, found by the id of an item: no request names a file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, features

from kinhash.data.images import name_of, opened, small, upright
from kinhash.data.walking import is_picture, path_of
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.serving.thumbnails import Cache

PATH = "path"  # key of the metadata
SIZES = (128, 256, 512, 1024)
MOST_PIXELS = 80_000_000  # of an upload; of pictures in an index as many as are encoded


def file_of(name: int | str, metadata: Mapping[str, Any], root: Path | None) -> Path:
    """The file of an item: its metadata's `path`, else its id; relative ones begin at `root`, else where the server runs.

    What is relative cannot leave `root` by way of `..`.
    """
    texts = [text for text in (metadata.get(PATH), name) if isinstance(text, str) and text]
    for text in dict.fromkeys(spelling for given in texts for spelling in (given, path_of(given))):
        path = Path(text)
        if not path.is_absolute():
            base = Path.cwd() if root is None else root
            path = Path(os.path.normpath(base / text))
            if root is not None and not path.is_relative_to(root):
                continue
        if "\0" not in text and is_picture(path.name) and path.is_file():
            return path
    raise NotFoundError(
        f"there is no picture of {name!r}: no file {texts[0] if texts else ''!r} is there any more"
    )


def uploaded(body: bytes) -> Image.Image:
    """The picture of an upload, upright, in RGB; anything that is none is an InputError, as is one that is too large."""
    try:
        with opened(body) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise FormatError(
                    f"{name_of(body)} has {width} x {height} pixels, more than {MOST_PIXELS:,}: make it smaller"
                )
            return upright(image)
    except FormatError as error:
        raise InputError(f"the upload of {error}") from None


def thumbnail(path: Path, size: int, cache: Cache) -> tuple[bytes, str, str]:
    """(content, media type, tag) of a copy of at most size x size pixels, from the cache where it is there."""
    if size not in SIZES:
        raise InputError(f"size is one of {', '.join(map(str, SIZES))}, got {size}")
    kind = "webp" if features.check("webp") else "jpeg"
    try:
        state = path.stat()
    except OSError as error:
        raise NotFoundError(f"the picture {path} cannot be read: {error.strerror}") from None
    tag = hashlib.sha256(
        f"{path}\0{state.st_mtime_ns}\0{state.st_size}\0{size}\0{kind}".encode("utf-8", "surrogateescape")
    )
    name = f"{tag.hexdigest()[:32]}.{kind}"
    content = cache.get(name)
    if content is None:
        content = _small(path, size, kind)
        cache.put(name, content)
    return content, f"image/{kind}", name


def _small(path: Path, size: int, kind: str) -> bytes:
    out = io.BytesIO()
    small(path, size).save(out, kind, quality=80)
    return out.getvalue()
