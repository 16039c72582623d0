"""A folder of codes with what they stand for: codes.json and its npy, items.csv, and floats.npy where asked for."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.errors import FormatError, StorageError
from kinhash.files import replacing

ITEMS, FLOATS = "items.csv", "floats.npy"


@dataclass(frozen=True, eq=False)
class CodedItems:
    """Codes, one id each, and where they are known one class name each."""

    codes: Codes
    ids: Sequence[str]
    labels: Sequence[str] | None = None
    floats: NDArray[np.float32] | None = None

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the folder; items.csv has the columns `id` and, with labels, `label`."""
        folder = Path(folder)
        self.codes.save(folder)
        columns = [self.ids] if self.labels is None else [self.ids, self.labels]
        try:
            with replacing(folder / ITEMS) as new, open(new, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "label"][: len(columns)])
                writer.writerows(zip(*columns, strict=True))
            if self.floats is not None:
                with replacing(folder / FLOATS) as new, open(new, "wb") as array:
                    np.save(array, self.floats)
        except OSError as error:
            raise StorageError(f"cannot write the list of items to {folder}: {error}") from error

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> CodedItems:
        """What `save` wrote; without items.csv the ids are positions; the floats stay where they are."""
        codes = Codes.load(folder)
        path = Path(folder) / ITEMS
        if not path.is_file():
            return cls(codes, [str(i) for i in range(len(codes))])
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file, strict=True))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise FormatError(f"{path} cannot be read as csv: {error}") from error
        if len(rows) != len(codes) or any(row.get("id") is None for row in rows):
            raise FormatError(
                f"{path} lists {len(rows)} items with ids, but there are {len(codes)} codes beside it"
            )
        labels = [row["label"] for row in rows] if rows and "label" in rows[0] else None
        return cls(codes, [row["id"] for row in rows], labels)
