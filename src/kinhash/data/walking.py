"""Walks a folder for its files: every folder once, whatever links point to it; what cannot be looked into is listed."""

from __future__ import annotations

import math
import os
import re
import stat
import warnings
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from kinhash.data.images import BrokenPictureWarning


def _suffixes(names: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in names.split())


# what Pillow reads as it is installed by default
SUFFIXES = _suffixes(
    "apng avif bmp gif j2k jfif jp2 jpe jpeg jpg mpo pbm pgm png ppm tga tif tiff webp",
)
# pictures, too, but in formats that are not read
UNREAD = _suffixes(
    "3fr arw cr2 cr3 dng eps erf exr hdr heic heif hif jxl mrw nef nrw orf pef psd raf raw rw2 rwl sr2 srf srw svg svgz "
    "x3f xcf"
)
_SURROGATE = re.compile(r"\\udc([89a-f][0-9a-f])")


@dataclass(frozen=True, slots=True)
class Found:
    """A file below a folder, with what the file system says of it."""

    path: str  # below the folder, with the system's separators; bytes that are no text are surrogates
    size: int
    modified: int  # nanoseconds


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file or folder that was not looked into, and why."""

    path: str
    reason: str
    folder: bool = False


@dataclass
class Walk:
    """What lies below a folder: files in the order of folders, then names."""

    files: list[Found] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)


def walk(root: Path, suffixes: Collection[str] = SUFFIXES, enough: float = math.inf) -> Walk:
    """Every regular file with one of the suffixes below `root`; hidden files and folders are left alone.

    Links are followed. Folders that are reached by several ways count once, by a way without links where there is
    one, so links in a loop end. No further folder is looked into once there are `enough` files.
    """
    found = Walk()
    seen: set[tuple[int, int]] = set()
    folders, links = deque([""]), deque[str]()
    while (folders or links) and len(found.files) < enough:
        below = folders.popleft() if folders else links.popleft()
        try:
            state = os.stat(root / below)
            if (state.st_dev, state.st_ino) in seen:
                continue
            seen.add((state.st_dev, state.st_ino))
            entries = sorted(os.scandir(root / below), key=lambda entry: entry.name)
        except OSError as error:
            found.passed_over.append(PassedOver(below or ".", why_unreadable(error, "folder"), folder=True))
            continue
        for entry in entries:
            if not entry.name.startswith("."):
                _sort_in(entry, os.path.join(below, entry.name), suffixes, found, folders, links)
    found.files.sort(key=lambda file: _order(file.path))
    found.passed_over.sort(key=lambda passed: passed.path)
    return found


def pictures_below(folder: Path) -> list[Path]:
    """The paths of `walk`; a folder that may not be looked into is passed over with a warning."""
    found = walk(folder)
    if closed := [passed for passed in found.passed_over if passed.folder]:
        more = f", and {len(closed) - 1} more" if len(closed) > 1 else ""
        first = f"{text_of(closed[0].path)} ({closed[0].reason}){more}"
        warnings.warn(f"folders left out below {folder}: {first}", BrokenPictureWarning, stacklevel=2)
    return [folder / file.path for file in found.files]


def is_picture(name: str) -> bool:
    """Whether a file of this name is taken for a picture."""
    return os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith(".")


def text_of(path: str) -> str:
    r"""A path as text that can be stored: bytes that are no UTF-8 are written \udc80 to \udcff."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def path_of(text: str) -> str:
    """The path that `text_of` wrote."""
    return _SURROGATE.sub(lambda match: chr(int("dc" + match[1], 16)), text)


def why_unreadable(error: OSError, what: str) -> str:
    """What a person is told who wonders where a file or folder is."""
    if isinstance(error, PermissionError):
        return f"you have no permission to read this {what}"
    if isinstance(error, FileNotFoundError):
        return "a link that points nowhere"
    return f"this {what} cannot be read: {error.strerror or error}"


def _sort_in(
    entry: os.DirEntry[str],
    path: str,
    suffixes: Collection[str],
    found: Walk,
    folders: deque[str],
    links: deque[str],
) -> None:
    try:
        if entry.is_dir():
            (links if entry.is_symlink() else folders).append(path)
            return
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in UNREAD:
            reason = f"pictures in the format {suffix} are not read; convert it to jpg or png"
            found.passed_over.append(PassedOver(path, reason))
        if suffix not in suffixes:
            return
        state = entry.stat()
        if stat.S_ISREG(state.st_mode):
            found.files.append(Found(path, state.st_size, state.st_mtime_ns))
        else:
            found.passed_over.append(PassedOver(path, "it is no file, but a device or a pipe"))
    except OSError as error:
        found.passed_over.append(PassedOver(path, why_unreadable(error, "file")))


def _order(path: str) -> tuple[list[str], str]:
    """What lies in a folder comes before what lies in folders below it."""
    *folders, name = path.split(os.sep)
    return folders, name
