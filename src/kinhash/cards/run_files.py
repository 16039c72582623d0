"""Reading what a training left in the folder of its run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kinhash.cards.names import CONFIG, METRICS
from kinhash.errors import FormatError, NotFoundError


def read_config(run: Path) -> dict[str, Any]:
    """What was to be trained."""
    if not (run / CONFIG).is_file():
        raise NotFoundError(f"{run} holds no run: {CONFIG}, which `kinhash train --out` writes, is missing")
    return read_object(run / CONFIG)


def read_metrics(run: Path) -> dict[str, Any]:
    """What came of it; nothing while the training has not ended."""
    return read_object(run / METRICS) if (run / METRICS).is_file() else {}


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log.jsonl, one for every epoch; a last line that a crash cut short is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            if number < len(lines) - 1:
                raise FormatError(f"{path}, line {number + 1}, is not json: {error}") from error
    return found


def read_object(path: Path) -> dict[str, Any]:
    """The object in a json file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise FormatError(f"{path} is damaged: an object was expected")
    return found
