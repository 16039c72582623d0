"""`Library`: pictures by name, in folders and in uncompressed tar files, which are read in place."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from kinhash.data.images import FilePart
from kinhash.data.walking import is_picture, pictures_below
from kinhash.errors import FormatError, NotFoundError

Place = Path | FilePart


class Library:
    """Finds `name` as a path, as a path below one of `places`, as a member of a tar there, or by its stem alone."""

    def __init__(self, places: Sequence[Path]) -> None:
        for place in places:
            if not place.exists():
                raise NotFoundError(f"there is no file or folder {place} to look for pictures in")
        self.folders = [place for place in places if place.is_dir()]
        self.tars = [place for place in places if not place.is_dir()]

    def find(self, name: str) -> Place:
        """Where `name` lies. A name that is nowhere is taken for a path: reading it will say that it is missing."""
        found = self.locate(name)
        return (self.folders[0] / name if self.folders else Path(name)) if found is None else found

    def locate(self, name: str) -> Place | None:
        """Where `name` lies, or None where it is nowhere or two pictures are called so."""
        for folder in self.folders:
            if _is_file(folder / name):
                return folder / name
        found = self._by_name.get(PurePosixPath(name).as_posix())
        return self._by_stem.get(PurePosixPath(name).name) if found is None else found

    def beside(self, used: Iterable[Place]) -> list[str]:
        """Names of the pictures that are not `used`: those in the tars, and those in the folders where a used one lies."""
        taken = set(used)
        tars = [pair for tar in self._all_tars for pair in tar_members(tar)]
        found = [name for name, place in tars if place not in taken]
        for folder in sorted({place.parent for place in taken if isinstance(place, Path)}):
            pictures = (path for path in sorted(folder.iterdir()) if is_picture(path.name))
            found += [str(path) for path in pictures if path not in taken]
        return found

    @property
    def _all_tars(self) -> list[Path]:
        return self.tars + [tar for folder in self.folders for tar in sorted(folder.glob("*.tar"))]

    @cached_property
    def _members(self) -> list[tuple[str, Place]]:
        """Everything there is, listed once, and only when a name is no plain path."""
        members: list[tuple[str, Place]] = [pair for tar in self._all_tars for pair in tar_members(tar)]
        for folder in self.folders:
            members += [(path.relative_to(folder).as_posix(), path) for path in pictures_below(folder)]
        return members

    @cached_property
    def _by_name(self) -> dict[str, Place]:
        return dict(reversed(self._members))

    @cached_property
    def _by_stem(self) -> dict[str, Place | None]:
        """Base name, with and without suffix -> the picture, or None where two pictures share it."""
        found: dict[str, Place | None] = {}
        for name, place in self._members:
            path = PurePosixPath(name)
            for key in {path.name, path.stem}:
                found[key] = None if key in found else place
        return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name may be longer than the disk allows
        return False


def tar_members(path: Path) -> list[tuple[str, FilePart]]:
    """Name and place of every picture in an uncompressed tar."""
    try:
        with tarfile.open(path, "r:") as archive:
            return [
                (PurePosixPath(member.name).as_posix(), FilePart(path, member.offset_data, member.size))
                for member in archive
                if member.isfile() and is_picture(PurePosixPath(member.name).name)
            ]
    except tarfile.TarError as error:
        raise FormatError(f"{path} is no uncompressed tar file: {error}") from error


__all__ = ["Library", "tar_members"]
