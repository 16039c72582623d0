"""`ConcatEncoder`: several encoders as one, whose codes stand side by side in one index."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinhash.cards.names import JOINED as CARD
from kinhash.codes import Codes
from kinhash.concatenation import checked_weights, concat
from kinhash.data.anything import as_split
from kinhash.data.images import Broken
from kinhash.errors import FormatError, InputError, NotFoundError, StorageError
from kinhash.files import replace_file
from kinhash.models.encoder import HashEncoder
from kinhash.models.storage import load_encoder

FORMAT, VERSION = "kinhash-concat", 1


@dataclass(frozen=True, eq=False)
class EncodedByAll:
    """Codes of what every encoder could read, as `HashEncoder.encode_all` gives them."""

    codes: Codes
    positions: np.ndarray
    ids: list[str]
    broken: list[Broken]


class ConcatEncoder:
    """Encodes with each of `encoders` and joins the codes by `kh.concat`: an object model and a caption model, say."""

    def __init__(self, encoders: Sequence[HashEncoder], weights: Sequence[int] | None = None) -> None:
        if isinstance(encoders, HashEncoder) or not encoders:
            raise InputError("pass a list of encoders, at least one")
        self.encoders = tuple(encoders)
        self.weights = checked_weights(weights, len(self.encoders))
        kinds = sorted({encoder.takes for encoder in self.encoders})
        if len(kinds) > 1:
            raise InputError(
                "some of these encoders take pictures and some embeddings: they cannot encode the same things"
            )

    @property
    def bits(self) -> int:
        """Of the codes of all encoders together."""
        return sum(w * encoder.bits for w, encoder in zip(self.weights, self.encoders, strict=True))

    @property
    def understands_text(self) -> bool:
        """Whether each of them has a text head."""
        return all(encoder.understands_text for encoder in self.encoders)

    def encode(self, things: Any, **options: Any) -> Codes:
        """The joined codes of `things`; options are those of `HashEncoder.encode`, which reads the same things."""
        return self.encode_all(as_split(things), **options).codes

    def encode_all(self, things: Any, **options: Any) -> EncodedByAll:
        """Joined codes with ids and positions; what one of them cannot read is broken for all."""
        split = as_split(things)
        made = [encoder.encode_all(split, **options) for encoder in self.encoders]
        kept = sorted(set.intersection(*(set(one.positions.tolist()) for one in made)))
        parts = [one.codes[np.searchsorted(one.positions, kept)] for one in made]
        broken = {one.id: one for part in made for one in part.broken}
        codes = concat(parts, self.weights)
        return EncodedByAll(
            codes, np.array(kept, np.int64), [split.ids[i] for i in kept], list(broken.values())
        )

    def encode_text(self, texts: str | Sequence[str]) -> Codes:
        """The joined codes of sentences; every encoder needs a text head."""
        return concat([encoder.encode_text(texts) for encoder in self.encoders], self.weights)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """One folder per encoder, and concat.json, which is written last."""
        path = Path(folder)
        for place, encoder in enumerate(self.encoders):
            encoder.save(path / str(place))
        card = {"format": FORMAT, "version": VERSION, "encoders": len(self.encoders), "weights": self.weights}
        try:
            replace_file(path / CARD, (json.dumps(card, indent=1) + "\n").encode())
        except OSError as error:
            raise StorageError(f"cannot write the encoders to {path}: {error}") from error

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str | None = None) -> ConcatEncoder:
        """What `save` wrote."""
        path = Path(folder) / CARD
        if not path.is_file():
            raise NotFoundError(f"{folder} holds no joined encoders: {CARD} is missing")
        try:
            card = json.loads(path.read_text("utf-8"))
            kind, version, count, weights = (card[k] for k in ("format", "version", "encoders", "weights"))
            places = range(int(count))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{path} is damaged: {error!r}") from error
        if kind != FORMAT or version != VERSION:
            raise FormatError(
                f"{path} is {kind!r} version {version}; this kinhash reads {FORMAT!r} version {VERSION}"
            )
        return cls([load_encoder(Path(folder) / str(place), device=device) for place in places], weights)
