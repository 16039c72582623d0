"""Near-duplicates among the pictures of a folder: groups, and which one of each is worth keeping."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinhash.data.anything import as_split
from kinhash.data.images import Broken, name_of
from kinhash.duplicates.facts import Facts, best_first, facts_of
from kinhash.duplicates.pairs import LEAST, RADIUS, PicturePairs, picture_pairs
from kinhash.duplicates.perceptual import looks
from kinhash.errors import InputError, NotFoundError
from kinhash.index.dedup import components

Advance = Callable[[str, int, int], object]  # what is done, how much of it, of how much


@dataclass(frozen=True, eq=False)
class DuplicatePictures:
    """Groups of pictures that are connected by pairs, in each the one to keep first: most pixels, then oldest.

    A group is a chain: its ends need not be alike. `names` are paths below the folder, to which the rows of `pairs` point.
    """

    folder: Path
    names: Sequence[str]
    pairs: PicturePairs
    groups: list[list[Facts]]
    broken: list[Broken]


def duplicate_pictures(
    folder: str | os.PathLike[str],
    *,
    radius: int = RADIUS,
    likeness: float = LEAST,
    progress: Advance | None = None,
) -> DuplicatePictures:
    """The near-duplicates below `folder`: copies that are smaller, recompressed, cropped, turned, mirrored, lighter.

    Every picture is looked at once. Two belong together where the perceptual hash of one is within `radius` bits of
    that of the other or of a part of it, in any of eight orientations, and their pixels correlate by at least `likeness`.
    """
    path = Path(folder)
    if not path.is_dir():
        raise NotFoundError(f"there is no folder {path}")
    split = as_split(path)
    if not isinstance(split.images, list):
        raise InputError(f"{path} holds no picture files")
    done = 0

    def read(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress("pictures read", done, len(split))

    positions, squares, broken = looks(split.images, split.ids, read)
    searched = None if progress is None else (lambda i, n: progress("searches", i, n))
    found = picture_pairs(squares, radius, likeness, progress=searched)
    names = [split.ids[i] for i in positions]
    files = [
        Path(name_of(split.images[i])) for i in positions
    ]  # names write bytes that are no text in another way
    groups = [
        best_first([facts_of(files[row], names[row]) for row in rows])
        for rows in components(found.left, found.right)
    ]
    return DuplicatePictures(path, names, found, groups, broken)


def spared(groups: Sequence[Sequence[Facts]]) -> int:
    """Bytes of everything but the first of each group."""
    return int(np.sum([facts.bytes for group in groups for facts in group[1:]], dtype=np.int64))
