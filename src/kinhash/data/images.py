"""Any picture -> (h, w, 3) uint8 pixels, upright, in RGB, or one clear error.

A source is a path, the bytes of a file, a `FilePart` (a member of an uncompressed tar), an open PIL image or an
array of pixels. Transparent pixels are laid on white; 16-bit grey keeps its upper 8 bits; EXIF rotation is applied;
of an animation the first frame counts.
"""

from __future__ import annotations

import io
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.kernels.threads import available_threads

Pixels = NDArray[np.uint8]

# decoders that Pillow may try, whatever a file is called: none that starts another program, as EPS does
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "AVIF", "JPEG2000", "TGA")
# Pillow warns from its limit of pixels on and refuses from twice that; here only the refusal counts. It is said once for
# the process, since threads that read ahead would undo each other's filters
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
_LARGE = 1 << 25  # pixels; of such pictures one is decoded at a time, since each takes hundreds of megabytes
_one_large = threading.Lock()


@dataclass(frozen=True)
class FilePart:
    """The bytes [offset, offset + length) of a file."""

    path: Path
    offset: int
    length: int

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


Source = str | os.PathLike[str] | bytes | FilePart | Image.Image | Pixels


@dataclass(frozen=True)
class Broken:
    """A picture that could not be read, and why."""

    id: str
    reason: str


class BrokenPictureWarning(UserWarning):
    """Pictures were left out because they cannot be read."""


def told(broken: Sequence[Broken]) -> str:
    """One sentence: how many pictures were left out, and the first of them with its reason."""
    first = f"{broken[0].id} ({broken[0].reason})"
    if len(broken) == 1:
        return f"1 picture was left out because it cannot be read: {first}"
    return f"{len(broken)} pictures were left out because they cannot be read, the first one: {first}"


def name_of(source: Source) -> str:
    """What an error message calls the source."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if isinstance(source, FilePart):
        return f"{source.path} at byte {source.offset}"
    if isinstance(source, Image.Image):
        return getattr(source, "filename", "") or "a PIL image"
    return f"{len(source)} bytes" if isinstance(source, bytes) else "an array"


def open_rgb(source: Source, near: int | None = None) -> Image.Image:
    """The picture of `source`, upright, in RGB. `near`: a JPEG may be decoded at a smaller scale not below this side."""
    if isinstance(source, np.ndarray):
        return Image.fromarray(_checked_pixels(source), "RGB" if source.ndim == 3 else None).convert("RGB")
    with opened(source) as image:
        if near is not None and not isinstance(source, Image.Image):
            image.draft(None, (near, near))
        return upright(image)


def small(source: Source, side: int) -> Image.Image:
    """A copy whose longer side has at most `side` pixels; what is small already stays as it is."""
    image = open_rgb(source, near=side)
    image = image.copy() if image is source else image
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return image


@contextmanager
def opened(source: str | os.PathLike[str] | bytes | FilePart | Image.Image) -> Iterator[Image.Image]:
    """The picture, its head read and not its pixels; what goes wrong while it is used is a FormatError, too."""
    try:
        if isinstance(source, Image.Image):
            yield source
            return
        if _size(source) == 0:
            raise FormatError(f"{name_of(source)} cannot be read as a picture: it is empty")
        with Image.open(_readable(source), formats=_formats()) as image:
            yield image
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {name_of(source)}") from error
    except FormatError:
        raise
    except Exception as error:  # Pillow's decoders raise anything on damaged files
        raise FormatError(f"{name_of(source)} cannot be read as a picture: {_reason(error)}") from error


def pixels(source: Source) -> Pixels:
    """(h, w, 3) uint8 of `open_rgb`."""
    return np.asarray(open_rgb(source))


def read_all(
    sources: Sequence[Source], ids: Sequence[str], threads: int = 0
) -> Iterator[tuple[int, Pixels | Broken]]:
    """Position and pixels of every source, in order; for a broken one the reason. `threads`: 0 = one per core."""

    def read(position: int) -> tuple[int, Pixels | Broken]:
        try:
            return position, pixels(sources[position])
        except (FormatError, NotFoundError) as error:
            return position, Broken(ids[position], str(error))

    with ThreadPoolExecutor(reading_threads(threads)) as pool:
        yield from pool.map(read, range(len(sources)))


def reading_threads(asked: int) -> int:
    """`asked`, or where that is 0 one per core, up to where more do not help."""
    if asked < 0:
        raise InputError(f"threads are counted from 1 on, and 0 means one per core; got {asked}")
    return asked or min(16, available_threads())


def _reason(error: Exception) -> str:
    if isinstance(error, Image.DecompressionBombError):
        limit = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        return (
            f"it unpacks to more than {limit:,} pixels, as a file made to fill the memory would; make it smaller, or raise "
            "PIL.Image.MAX_IMAGE_PIXELS"
        )
    if isinstance(error, UnidentifiedImageError):
        return "it is in none of the formats that are read, or damaged"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"it is damaged: {error}"


@cache
def _formats() -> list[str]:
    """Those of the decoders that this Pillow has."""
    Image.init()
    return [name for name in _FORMATS if name in Image.OPEN]


def _size(source: str | os.PathLike[str] | bytes | FilePart) -> int:
    if isinstance(source, FilePart):
        return source.length
    return len(source) if isinstance(source, bytes) else os.stat(source).st_size


def _readable(source: str | os.PathLike[str] | bytes | FilePart) -> Any:
    if isinstance(source, FilePart):
        return io.BytesIO(source.read())
    return io.BytesIO(source) if isinstance(source, bytes) else source


def upright(image: Image.Image) -> Image.Image:
    """The pixels of a picture in RGB, turned as the camera noted."""
    with _one_large if image.width * image.height > _LARGE else nullcontext():
        image.load()  # all pixels: truncated files fail here
        with suppress(Exception):  # what a camera notes beside a picture may be damaged; the picture is not
            image = ImageOps.exif_transpose(image)
        return _to_rgb(image)


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I"):
        return _sixteen_bit(image).convert("RGB")
    if image.mode == "F":
        raise FormatError(
            f"{name_of(image)} holds floating-point pixels, whose range nobody knows; save it with 8 or 16 bits"
        )
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB")


def _sixteen_bit(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.int64)
    if values.size and (values.min() < 0 or values.max() > 65535):
        raise FormatError(f"{name_of(image)} holds values outside 16 bits; save it with 8 or 16 bits")
    return Image.fromarray((values >> 8).astype(np.uint8))


def _checked_pixels(array: NDArray[Any]) -> Pixels:
    shape_ok = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if array.dtype != np.uint8 or not shape_ok or not array.size:
        raise InputError(
            f"a picture as an array is (h, w, 3) or (h, w) uint8, got shape {array.shape} of {array.dtype}"
        )
    return np.ascontiguousarray(array)
