"""`Sentences`: the captions of every row as vectors, of which each epoch draws one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.errors import InputError

Vectors = NDArray[np.float32]


class EncodesTexts(Protocol):
    """What makes vectors of texts: `kinhash.text_encoder(...)`, or anything with the same face."""

    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    def encode(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, eq=False)
class Sentences:
    """Row i has the vectors `starts[i]` to `starts[i + 1]`, at least one. `encoder` names what made them."""

    vectors: Vectors  # (N, D)
    starts: NDArray[np.int64]  # (n + 1,)
    encoder: str = ""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, captions: Sequence[Sequence[str]] | None, encoder: EncodesTexts) -> Sentences:
        """The vectors of the captions of a split."""
        if captions is None:
            raise InputError(
                "the split has no captions: use a data set with a column `caption`, tars with texts, or target_vectors"
            )
        lengths = np.array([len(texts) for texts in captions], dtype=np.int64)
        if not lengths.all():
            raise InputError(f"row {int(np.argmin(lengths))} has no caption; leave such rows out")
        vectors = encoder.encode([text for texts in captions for text in texts])
        return cls(np.asarray(vectors, np.float32), np.concatenate([[0], np.cumsum(lengths)]), encoder.name)

    def take(self, rows: ArrayLike) -> Sentences:
        """The captions of some rows; a row may be taken twice."""
        chosen = [np.arange(*self.starts[i : i + 2]) for i in np.asarray(rows, dtype=np.int64)]
        lengths = [len(positions) for positions in chosen]
        positions = np.concatenate([np.empty(0, np.int64), *chosen])
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return Sentences(self.vectors[positions], starts, self.encoder)

    def rows(self) -> NDArray[np.int64]:
        """(N,) the row that every vector belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def means(self) -> Vectors:
        """(n, D) the mean of every row's vectors: what a picture with several captions is about."""
        sums = np.add.reduceat(self.vectors.astype(np.float64), self.starts[:-1], axis=0)
        return (sums / np.diff(self.starts)[:, None]).astype(np.float32)

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """(n,) the position of one vector of every row."""
        return self.starts[:-1] + rng.integers(0, np.diff(self.starts))
