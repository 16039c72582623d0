"""What a network says about classes that it has seen and others, small enough to be carried to where it is scored."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from run import Run
from train_one import trained_seconds, training_card
from zeroshot_data import Parts

import kinhash as kh
from kinhash.files import replace_file, replacing
from kinhash.models.features import extract_features
from kinhash.training.runfolder import read_log

WITH_FEATURES = "class"  # the method whose backbone all class-code methods build on
UNSEEN = ("database", "queries")  # the parts of unseen classes
_FILE, _CARD = "parts.npz", "outputs.json"


@dataclass(frozen=True, eq=False)
class PartOutputs:
    """`labels` of all four parts; `z` of the unseen ones; `features` of all, where the run keeps them."""

    labels: Mapping[str, NDArray[np.int64]]
    z: Mapping[str, NDArray[np.float32]]
    features: Mapping[str, NDArray[np.float32]]
    card: dict[str, Any]

    def save(self, folder: Path) -> None:
        """Half precision; the card comes last and marks the rest as whole."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {
            f"labels_{part}": rows.astype(np.int32) for part, rows in self.labels.items()
        }
        for name in ("z", "features"):
            arrays |= {
                f"{name}_{part}": rows.astype(np.float16) for part, rows in getattr(self, name).items()
            }
        with replacing(folder / _FILE) as new, open(new, "wb") as file:
            np.savez_compressed(file, **arrays)
        replace_file(folder / _CARD, (json.dumps(self.card, indent=1) + "\n").encode())

    @classmethod
    def load(cls, folder: Path) -> PartOutputs | None:
        """What `save` wrote, or None where there is nothing whole."""
        if not (folder / _CARD).exists():
            return None
        found: dict[str, dict[str, Any]] = {"labels": {}, "z": {}, "features": {}}
        with np.load(folder / _FILE, allow_pickle=False) as arrays:
            for key in arrays.files:
                name, _, part = key.partition("_")
                found[name][part] = arrays[key].astype(np.int64 if name == "labels" else np.float32)
        return cls(card=json.loads((folder / _CARD).read_text()), **found)


def trained_parts(
    run: Run, parts: Parts, arguments: Mapping[str, Any], folder: Path, *, device: str | None, processes: int
) -> PartOutputs:
    """Train, or go on where a run was cut off, and encode; takes from `folder` what lies there."""
    found = PartOutputs.load(folder)
    if found is not None:
        return found
    encoder = kh.train(
        parts.train, out=folder / "run", resume=True, device=device, progress=False, **arguments
    )
    start = time.perf_counter()
    cuda = encoder.device.type == "cuda"
    how: dict[str, Any] = {"batch": 500 if cuda else 100, "flip": run.flip_average, "half": cuda}
    made = {part: encoder.encode_all(split, **how) for part, split in parts.items()}
    labels = {
        part: split.targets()[made[part].positions] for part, split in parts.items()
    }  # no broken pictures
    features = {}
    if run.method == WITH_FEATURES:
        backbone = encoder.network.backbone
        rows = {
            part: extract_features(backbone, split, device=encoder.device, **how)
            for part, split in parts.items()
        }
        features = {part: split.vectors for part, split in rows.items() if split.vectors is not None}
    log = read_log(folder / "run" / "log.jsonl")
    seconds = {"train": trained_seconds(log), "encode": time.perf_counter() - start}
    guesses = encoder.network.classifier is not None
    right = encoder.predict(parts.val, **how).argmax(1) == labels["val"] if guesses else np.empty(0)
    outputs = PartOutputs(
        labels,
        {part: made[part].floats for part in UNSEEN},
        features,
        training_card(run, seconds, log)
        | {"processes": processes, "seen_accuracy": round(float(right.mean()), 6) if guesses else None},
    )
    outputs.save(folder)
    return outputs
