"""The folder of a run: config.json, log.jsonl, checkpoints/, and in the end metrics.json, curves.png and encoder/."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinhash.cards.names import CONFIG, ENCODER, LOG, METRICS
from kinhash.cards.run_files import read_log
from kinhash.errors import StorageError, TrainingError
from kinhash.files import replace_file
from kinhash.models.encoder import HashEncoder
from kinhash.plots import plot_training


class RunFolder:
    """Files of one run; without a path nothing is written."""

    def __init__(self, path: str | os.PathLike[str] | None, *, resume: bool, writes: bool = True) -> None:
        self.path = None if path is None else Path(path)
        self.writes = writes and self.path is not None  # of several processes one writes
        if resume and self.path is None:
            raise TrainingError("resume=True continues the run of a folder; name it with out=FOLDER")
        # the one that writes also looks: another may look when the first has begun
        if self.writes and self.path is not None and not resume and (self.path / CONFIG).exists():
            raise TrainingError(
                f"{self.path} already holds a run; continue it with resume=True, or choose another folder"
            )

    @property
    def checkpoints(self) -> Path | None:
        return None if self.path is None else self.path / "checkpoints"

    def begin(self, config: Mapping[str, Any], epoch: int) -> float:
        """Write the configuration; of the log keep the first `epoch` epochs, and say how many seconds they took."""
        if not self.writes or self.path is None:
            return 0.0
        kept = [line for line in read_log(self.path / LOG) if line["epoch"] <= epoch]
        self._write(CONFIG, json.dumps(config, indent=1) + "\n")
        self._write(LOG, "".join(json.dumps(line) + "\n" for line in kept))
        return float(kept[-1]["seconds"]) if kept else 0.0

    def log(self, line: Mapping[str, Any]) -> None:
        """Append one epoch to log.jsonl; its "seconds" count the training from the start of the run."""
        if not self.writes or self.path is None:
            return
        try:
            with open(self.path / LOG, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise StorageError(f"cannot write to {self.path}: {error}") from error

    def keep(self, encoder: HashEncoder) -> None:
        """Write encoder/."""
        if self.writes and self.path is not None:
            encoder.save(self.path / ENCODER)

    def finish(self, metrics: Mapping[str, Any]) -> None:
        """Write metrics.json, and the curves where matplotlib is installed."""
        if not self.writes or self.path is None:
            return
        self._write(METRICS, json.dumps(metrics, indent=1) + "\n")
        if find_spec("matplotlib"):
            plot_training(read_log(self.path / LOG), self.path / "curves.png")

    def _write(self, name: str, text: str) -> None:
        assert self.path is not None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            replace_file(self.path / name, text.encode())
        except OSError as error:
            raise StorageError(f"cannot write {self.path / name}: {error}") from error
