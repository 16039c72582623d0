"""Sentences to vectors whose distances follow meaning, by an encoder of the sentence-transformers family."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from kinhash.models.device import chosen_device
from kinhash.models.inference import Progress, shown
from kinhash.models.text_cache import VectorCache, default_cache
from kinhash.models.text_checks import checked_texts
from kinhash.models.text_runners import Runner, make_runner
from kinhash.models.text_sources import encoder_folder, fingerprint

DEFAULT = "minilm"
Vectors = NDArray[np.float32]
_PART = 512  # texts between two looks at the clock and two writes to the cache


class TextEncoder:
    """Texts to float32 vectors; made by `kinhash.text_encoder`.

    A text becomes the mean of its tokens' vectors, of unit length where the encoder's folder asks for that. What lies
    behind the encoder's token limit (256 for "minilm") does not count. Equal texts are computed once.
    """

    def __init__(
        self, name: str, folder: Path, device: torch.device, cache: VectorCache | None = None
    ) -> None:
        self.name, self.folder, self.device = name, folder, device
        self._cache = cache

    def __repr__(self) -> str:
        return f"TextEncoder({self.name!r})"

    @property
    def width(self) -> int:
        """How many numbers a text becomes."""
        return self._runner.width

    def encode(self, texts: Sequence[str], *, progress: Progress = False) -> Vectors:
        """(n, width) vectors, in the order of `texts`."""
        given = checked_texts(texts)
        place = {text: i for i, text in enumerate(dict.fromkeys(given))}
        found: list[Vectors | None] = [None] * len(place)
        with shown(progress, len(place), "texts") as advance:
            for part, vectors in self._parts(list(place)):
                for text, vector in zip(part, vectors, strict=True):
                    found[place[text]] = vector
                advance(len(part))
        rows = [vector for vector in found if vector is not None]
        if not rows:
            return np.empty((0, self.width), np.float32)
        return np.stack(rows)[[place[text] for text in given]]

    def _parts(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[Vectors]]]:
        """Texts and vectors: first those in the cache, then part by part the others, short ones first."""
        if self._cache is None:
            missing = list(texts)
        else:
            keys = {text: self._key(text) for text in texts}
            known = self._cache.get(list(keys.values()))
            hits = [text for text in texts if keys[text] in known]
            yield hits, [known[keys[text]] for text in hits]
            missing = [text for text in texts if keys[text] not in known]
        missing.sort(key=len)
        stored = 0
        for start in range(0, len(missing), _PART):
            part = missing[start : start + _PART]
            vectors = self._runner(part)
            # one call may not push out everything else, nor its own beginning
            if self._cache is not None and stored <= self._cache.limit // 2:
                self._cache.put({keys[text]: vector for text, vector in zip(part, vectors, strict=True)})
                stored += vectors.nbytes
            yield part, list(vectors)

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), key=self._fingerprint, digest_size=16).digest()

    @cached_property
    def _fingerprint(self) -> bytes:
        return fingerprint(self.folder)

    @cached_property
    def _runner(self) -> Runner:
        return make_runner(self.folder, self.device)


def text_encoder(
    name: str = DEFAULT,
    *,
    device: torch.device | str | None = None,
    cache: bool | str | os.PathLike[str] = True,
) -> TextEncoder:
    """The sentence encoder `name`, on `device`, by default a GPU where there is one.

    "minilm" is all-MiniLM-L6-v2 (384 numbers, English), which the extra `text` installs, so that nothing is
    downloaded. Other names are folders, or encoders of the Hugging Face hub: any of sentence-transformers as it
    is, any other of transformers with the mean over its tokens. Only safetensors are read, no pickles.

    `cache`: vectors are kept in `$XDG_CACHE_HOME/kinhash/text`, by the contents of text and encoder, up to 1 GiB; False
    keeps nothing, a folder is used in place of that one.
    """
    folder = encoder_folder(name)
    return TextEncoder(name, folder, chosen_device(device), default_cache(cache))
