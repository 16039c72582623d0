"""What an encoder says about labelled things, for a report: encoded now, or read from where it was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import finite_rows
from kinhash.cards.names import CARD
from kinhash.codes import Codes
from kinhash.data.embeddings import load_array
from kinhash.data.splits import Split
from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.items import FLOATS, CodedItems

MOST = 10_000


@dataclass(frozen=True, eq=False)
class Outputs:
    """Codes and what they stand for. `floats`, `predictions` and `split` (its pictures) are None where not known."""

    codes: Codes
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    floats: NDArray[np.float32] | None = None
    predictions: NDArray[np.int64] | None = None
    split: Split | None = None

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.codes) or len(self.codes) < 3:
            raise InputError(
                f"a report needs labels, one for each code, and at least three; got {len(self.labels)} labels and "
                f"{len(self.codes)} codes"
            )

    def some(self, most: int, seed: int = 0) -> Outputs:
        """At most so many rows, drawn by a seed, in their order."""
        if len(self.codes) <= most:
            return self
        rows = np.sort(np.random.default_rng(seed).permutation(len(self.codes))[:most])
        return replace(
            self,
            codes=self.codes[rows],
            labels=self.labels[rows],
            floats=None if self.floats is None else self.floats[rows],
            predictions=None if self.predictions is None else self.predictions[rows],
            split=None if self.split is None else self.split.take(rows),
        )


def outputs_of_data(encoder_folder: Path, split: Split, *, device: str | None, progress: bool) -> Outputs:
    """Encode the split with the encoder of the run."""
    from kinhash.models.storage import load_encoder

    if not (encoder_folder / CARD).is_file():
        raise NotFoundError(
            f"{encoder_folder} holds no encoder, so nothing can be encoded: let the training end, or give codes or outputs"
        )
    encoder = load_encoder(encoder_folder, device=device)
    made = encoder.encode_all(split, progress=progress)
    shown = split.take(made.positions)
    labels = shown.targets()
    guesses = None
    if encoder.network.classifier is not None and encoder.classes == split.classes:
        guesses = encoder.predict(shown).argmax(1)
    pictures = shown if shown.images is not None else None
    return Outputs(made.codes, labels, split.classes, made.floats, guesses, pictures)


def outputs_of_codes(folder: Path, split: Split | None) -> Outputs:
    """What `kinhash encode --part` wrote, with --floats the floats too; pictures by id from `split`."""
    items = CodedItems.load(folder)
    if items.labels is None:
        raise InputError(
            f"{folder} holds codes without labels: encode with --part, so that classes are known"
        )
    classes = tuple(sorted(set(items.labels))) if split is None else split.classes
    number = {name: i for i, name in enumerate(classes)}
    if missing := sorted(set(items.labels) - set(classes)):
        raise InputError(f"{folder} holds items of class {missing[0]!r}, which the data set does not have")
    labels = np.array([number[name] for name in items.labels], np.int64)
    floats = load_array(folder / FLOATS) if (folder / FLOATS).is_file() else None
    return Outputs(items.codes, labels, classes, floats, None, _by_id(split, items.ids))


def outputs_of_file(path: Path, classes: Sequence[str]) -> Outputs:
    """Arrays of an npz file: z (n, bits), labels and maybe predictions (n,), each perhaps with test_ before its name."""
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {
                name.removeprefix("test_"): stored[name] for name in stored.files if "train" not in name
            }
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read as npz: {error}") from error
    if not {"z", "labels"} <= arrays.keys():
        raise FormatError(f"{path} holds {', '.join(arrays) or 'nothing'}: z and labels are needed")
    z = finite_rows(arrays["z"], "z", np.float32)
    labels = arrays["labels"].astype(np.int64)
    names = tuple(classes) or tuple(map(str, range(int(labels.max(initial=0)) + 1)))
    if labels.size and (labels.min() < 0 or labels.max() >= len(names)):
        raise FormatError(
            f"{path} holds labels from {labels.min()} to {labels.max()} for {len(names)} classes"
        )
    return Outputs(Codes.from_logits(z), labels, names, z, arrays.get("predictions"))


def with_pictures(outputs: Outputs, split: Split) -> Outputs:
    """The same, with the pictures of a split of the same rows."""
    if (
        len(split) != len(outputs.codes)
        or split.labels is None
        or not np.array_equal(split.labels, outputs.labels)
    ):
        raise InputError(
            f"the data set has {len(split)} rows and the outputs {len(outputs.codes)}, or their labels differ: name "
            "the part that was encoded"
        )
    return replace(outputs, classes=split.classes, split=split if split.images is not None else None)


def _by_id(split: Split | None, ids: Sequence[str]) -> Split | None:
    if split is None or split.images is None:
        return None
    places: Mapping[str, Any] = {name: row for row, name in enumerate(split.ids)}
    rows = [places.get(name) for name in ids]
    return None if any(row is None for row in rows) else split.take(np.array(rows, np.int64))
