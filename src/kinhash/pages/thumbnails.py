"""Pictures as small JPEGs inside a page, as large as a limit on their bytes allows."""

from __future__ import annotations

import base64
import io
from collections.abc import Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from kinhash.arrays import is_whole
from kinhash.data.images import Source, reading_threads, small
from kinhash.errors import FormatError, InputError, NotFoundError

SIDE, LEAST = 160, 40  # pixels of the longer side: where a page has room, and where nothing is seen any more
MEGABYTES = 20
_QUALITY = 80

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Thumbnail:
    """A small JPEG; or with `data` None a picture that could not be read, and why."""

    data: bytes | None
    width: int = 0
    height: int = 0
    reason: str = ""

    @property
    def uri(self) -> str:
        """What stands in the page in place of an address."""
        assert self.data is not None
        return "data:image/jpeg;base64," + base64.b64encode(self.data).decode("ascii")


@dataclass(frozen=True)
class Thumbnails(Generic[Key]):
    """Thumbnails by name, and what a reader is told of their size."""

    found: Mapping[Key, Thumbnail]
    side: int
    bytes: int
    megabytes: float

    def note(self) -> str:
        small = f", so small that all fit into {self.megabytes:g} MB" if self.side < SIDE else ""
        return f"{len(self.found)} pictures of at most {self.side} pixels{small}: {self.bytes / 1e6:.1f} MB."


def thumbnails(
    sources: Mapping[Key, Source], uses: Mapping[Key, int] | None = None, megabytes: float = MEGABYTES
) -> Thumbnails[Key]:
    """A thumbnail of every source, each the same side at most; together they take at most `megabytes` of a page.

    `uses` says how often each stands in the page (once, where it is absent).
    """
    if not megabytes > 0:
        raise InputError(f"the size of a page in megabytes is positive, got {megabytes!r}")
    side = SIDE
    while True:
        found = _all(sources, side)
        total = sum(
            len(one.data) * 4 // 3 * (1 if uses is None else uses.get(key, 1))
            for key, one in found.items()
            if one.data is not None
        )
        if total <= megabytes * 1e6:
            return Thumbnails(found, side, total, megabytes)
        if side == LEAST:
            raise InputError(
                f"{len(found)} pictures of {side} pixels take {total / 1e6:.1f} MB, and the page may hold {megabytes:g}: "
                "show fewer"
            )
        side = max(LEAST, min(side - 8, int(side * (megabytes * 1e6 / total) ** 0.5)))


def thumbnail(source: Source, side: int = SIDE) -> Thumbnail:
    """One picture, its longer side at most `side` pixels; a small one is not enlarged."""
    if not is_whole(side) or side < 1:
        raise InputError(f"a thumbnail has a whole number of pixels from 1 on, got {side!r}")
    try:
        image = small(source, side)
    except (FormatError, NotFoundError, InputError) as error:
        return Thumbnail(None, reason=str(error))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=_QUALITY, optimize=True)
    return Thumbnail(file.getvalue(), *image.size)


def _all(sources: Mapping[Key, Source], side: int) -> dict[Key, Thumbnail]:
    with ThreadPoolExecutor(reading_threads(0)) as pool:
        made = pool.map(lambda source: thumbnail(source, side), sources.values())
        return dict(zip(sources, made, strict=True))
