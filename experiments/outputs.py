"""What a trained network says about a dataset, and how it came about: two files, so that scoring needs no network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.files import replace_file, replacing
from kinhash.models.retrieval import Retrieval


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs z for test and train, the predicted classes of test, and the card of the training."""

    test_z: NDArray[np.float32]  # (n, width)
    test_labels: NDArray[np.int64]
    test_predictions: NDArray[np.int64]  # (0,) where test shows other classes than train
    train_z: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    card: dict[str, Any]  # config, seconds, commit, date, hardware, versions, and how the method retrieves

    @property
    def retrieval(self) -> Retrieval:
        """Codes, floats or both, and how floats are compared."""
        return Retrieval.from_card(self.card.get("retrieval"))

    def save(self, folder: Path) -> None:
        """Write `outputs.npz` and then `outputs.json`; the second marks the first as whole."""
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / "outputs.npz") as new, open(new, "wb") as file:
            np.savez(
                file,
                test_z=self.test_z,
                test_labels=self.test_labels,
                test_predictions=self.test_predictions,
                train_z=self.train_z,
                train_labels=self.train_labels,
            )
        replace_file(folder / "outputs.json", (json.dumps(self.card, indent=1) + "\n").encode())

    @classmethod
    def load(cls, folder: Path) -> Outputs | None:
        """What `save` wrote, or None where there is nothing whole."""
        if not (folder / "outputs.json").exists():
            return None
        card = json.loads((folder / "outputs.json").read_text())
        with np.load(folder / "outputs.npz", allow_pickle=False) as arrays:
            return cls(card=card, **{name: arrays[name] for name in arrays.files})
