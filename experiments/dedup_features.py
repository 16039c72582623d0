"""Features of photos and of their copies, computed once into a folder: the slow part of `experiments/dedup.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dedup_copies import KINDS, copies, photos
from numpy.typing import NDArray

from kinhash.data.images import Source
from kinhash.data.splits import Split
from kinhash.files import replacing

SEED = 0
ORIGINALS = {"validation": 2000, "test": 3000}  # photos; the halves share none
COPIED = {"validation": 200, "test": 300}  # of these, so many have one copy of every kind


@dataclass(frozen=True)
class Half:
    """Photos by name, all of them originals, and the places among them of those that were copied."""

    names: list[str]
    sources: list[Source]
    copied: NDArray[np.int64]

    def copies(self, kind: str) -> list[Source]:
        """The pixels of one copy of every photo in `copied`."""
        return list(copies([self.sources[i] for i in self.copied], kind, SEED))  # type: ignore[misc]


def halves(root: Path, small: int | None = None) -> dict[str, Half]:
    """Photos drawn by a fixed seed; `small` is their number in each half, with a tenth of them copied."""
    listed = photos(root)
    order = np.random.default_rng(SEED).permutation(len(listed))
    found, start = {}, 0
    for name, count in ORIGINALS.items():
        count, copied = (count, COPIED[name]) if small is None else (small, small // 10)
        chosen = [listed[i] for i in order[start : start + count]]
        found[name] = Half([n for n, _ in chosen], [s for _, s in chosen], np.arange(copied))
        start += count
    return found


def features(sources: Sequence[Source], cache: Path | None) -> NDArray[np.float32]:
    """What the pretrained network gives for every picture, from `cache` where it is there already."""
    if cache is not None and cache.exists():
        stored: NDArray[np.float32] = np.load(cache, allow_pickle=False).astype(np.float32)
        return stored
    from kinhash.models.catalogue import build_backbone
    from kinhash.models.features import extract_features

    found = extract_features(
        build_backbone("efficientnet-lite0"), Split(images=list(sources)), batch=16
    ).vectors
    assert found is not None
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cache) as new, open(new, "wb") as file:
            np.save(file, found.astype(np.float16))
    return found


def all_features(half: Half, cache: Path | None) -> dict[str, NDArray[np.float32]]:
    """Of the originals (under the name "originals") and of the copies of every kind."""
    found = {"originals": features(half.sources, None if cache is None else cache / "originals.npy")}
    for kind in KINDS:
        place = None if cache is None else cache / f"{kind.replace(' ', '-').replace('%', 'percent')}.npy"
        found[kind] = (
            features(half.copies(kind), place) if place is None or not place.exists() else features([], place)
        )
    return found
