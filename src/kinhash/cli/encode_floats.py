"""What methods without codes give: vectors in the files that `kinhash evaluate` and `kinhash train` read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinhash.errors import StorageError
from kinhash.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinhash.models.encoder import Encoded


def save_vectors(made: Encoded, labels: Sequence[str] | None, folder: Path) -> tuple[dict[str, Any], str]:
    """Write vectors.npy, and vectors_labels.npy where there are labels; what was written, for json and as a sentence."""
    path = folder / "vectors.npy"
    arrays = {path: made.floats}
    if labels is not None:
        arrays[folder / "vectors_labels.npy"] = np.array(labels)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            with replacing(name) as new, open(new, "wb") as file:
                np.save(file, array)
    except OSError as error:
        raise StorageError(f"cannot write vectors to {folder}: {error}") from error
    n, width = made.floats.shape
    told = {"vectors": str(path), "n": n, "width": width, "distance": made.metric}
    return told, (
        f"{path}: {n} vectors of {width} numbers, for `kinhash evaluate --distance {made.metric}` "
        f"({made.retrieval.method} makes no codes)"
    )
