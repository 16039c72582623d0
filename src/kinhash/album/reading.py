"""Reads photo files ahead of the network: content, pixels, and what a person may ask for later."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from PIL import Image

from kinhash.data.images import Pixels, opened, reading_threads, upright
from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError, NotFoundError

_AHEAD = 192  # photos that are read before they are asked for
_ORIENTATION, _CHANGED, _CAMERA, _TAKEN = 0x0112, 0x0132, 0x8769, 0x9003  # tags of EXIF
_SERIES = dict.fromkeys(("GIF", "WEBP", "PNG", "AVIF"), "frames of an animation") | {"TIFF": "pages"}


@dataclass(frozen=True)
class Photo:
    """A photo that was read: `pixels` are fit for the network; `note` says what of it was left out."""

    pixels: Pixels
    content: str
    width: int
    height: int
    taken: str = ""
    note: str = ""


def content_of(path: str | os.PathLike[str]) -> str | None:
    """32 hexadecimal digits that differ where contents do (BLAKE2b); None for a file that cannot be read."""
    try:
        return _digest(path)
    except OSError:
        return None


def read_photo(path: Path, preprocessing: Preprocessing) -> Photo | str:
    """The photo, or one sentence on why it is none."""
    try:
        content = _digest(path)
        with opened(path) as image:
            width, height = image.size
            turned, taken = _camera(image)
            note = _note(image)
            image.draft(None, (preprocessing.near, preprocessing.near))
            pixels = preprocessing.fitted(upright(image))
    except (FormatError, NotFoundError) as error:
        return str(error).removeprefix(f"{path} cannot be read as a picture: ")
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    return Photo(pixels, content, *((height, width) if turned else (width, height)), taken, note)


def read_ahead(
    paths: Iterable[Path], preprocessing: Preprocessing, workers: int = 0
) -> Iterator[Photo | str]:
    """`read_photo` of every path, in order, by threads that run ahead: Pillow decodes without the interpreter lock."""
    waiting: deque[Future[Photo | str]] = deque()
    remaining = iter(paths)
    pool = ThreadPoolExecutor(reading_threads(workers), thread_name_prefix="kinhash-read")
    try:
        while True:
            for path in islice(remaining, _AHEAD - len(waiting)):
                waiting.append(pool.submit(read_photo, path, preprocessing))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _digest(path: str | os.PathLike[str]) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _camera(image: Image.Image) -> tuple[bool, str]:
    """Whether the camera was held upright, and when: 2019-07-03 18:20:05, or "" where it does not say."""
    turned, taken = False, ""
    with suppress(Exception):  # EXIF comes in every state of damage
        exif = image.getexif()
        turned = exif.get(_ORIENTATION) in (5, 6, 7, 8)
        stamp = exif.get_ifd(_CAMERA).get(_TAKEN) or exif.get(_CHANGED) or ""
        date, _, time = str(stamp).strip("\0 ").partition(" ")
        if date[:4].isdecimal() and date[:4] != "0000":
            taken = f"{date.replace(':', '-')} {time}".strip()
    return turned, taken


def _note(image: Image.Image) -> str:
    what = _SERIES.get(image.format or "")
    count = getattr(image, "n_frames", 1) if what else 1
    return "" if count == 1 else f"the first of {count} {what} counts"
