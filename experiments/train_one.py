"""One run: `kh.train`, what the encoder then says, and how long it took."""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from outputs import Outputs
from run import Run

import kinhash as kh
from kinhash.data.splits import Dataset
from kinhash.training.distributed import leads
from kinhash.training.runfolder import read_log

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import provenance


def trained(
    run: Run,
    data: Dataset,
    arguments: Mapping[str, Any],
    folder: Path,
    *,
    device: str | None = None,
    processes: int = 1,
) -> Outputs | None:
    """Train, or go on where a run was cut off, then encode; takes the outputs from `folder` where they lie there.

    `arguments` are those of `kh.train`; test may show other classes than train, which then are not predicted. Of the
    processes of torchrun the first one encodes; the others return None.
    """
    found = Outputs.load(folder)
    if found is not None:
        return found
    start = time.perf_counter()
    encoder = kh.train(
        data.train,
        out=folder / "run",
        resume=True,
        device=device,
        progress=False,
        **arguments,
    )
    middle = time.perf_counter()
    if not leads():
        return None
    cuda = encoder.device.type == "cuda"
    flip = run.flip_average and encoder.takes == "pictures"
    how: dict[str, Any] = {"batch": 1000 if cuda else 250, "flip": flip, "half": cuda}
    test, train = (encoder.encode_all(split, **how) for split in (data.test, data.train))
    guesses = encoder.network.classifier is not None and data.test.classes == data.train.classes
    predictions = encoder.predict(data.test, **how).argmax(axis=1) if guesses else np.empty(0, dtype=np.int64)
    log = read_log(folder / "run" / "log.jsonl")
    seconds = {
        "train": trained_seconds(log),
        "call": middle
        - start,  # of kh.train, with what surrounds the steps; of the last one where it resumed
        "encode": time.perf_counter() - middle,
    }
    outputs = Outputs(
        test_z=test.floats,
        test_labels=data.test.targets()[test.positions],  # broken pictures have no outputs
        test_predictions=predictions,
        train_z=train.floats,
        train_labels=data.train.targets()[train.positions],
        card=training_card(run, seconds, log)
        | {"processes": processes, "retrieval": encoder.retrieval.card()},
    )
    outputs.save(folder)
    return outputs


def trained_seconds(log: Sequence[dict[str, Any]]) -> float:
    """All steps since the first, with compiling and capturing; 0 where nothing was trained."""
    return float(log[-1]["seconds"]) if log else 0.0


def step_milliseconds(log: Sequence[dict[str, Any]]) -> float | None:
    """Median over the epochs, the first left out: it compiles and captures."""
    pairs = list(itertools.pairwise(log))
    steps = [1000 * (b["seconds"] - a["seconds"]) / (b["step"] - a["step"]) for a, b in pairs]
    return round(statistics.median(steps), 3) if steps else None


def training_card(run: Run, seconds: dict[str, float], log: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is said of every training."""
    return {
        **provenance("torch"),
        "config": run.config,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "step_ms": step_milliseconds(log),
        "losses": log[-1]["losses"] if log else {},
    }
