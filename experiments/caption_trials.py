"""What was tried on training photos held back: every trial of `captions.py --table text --validation` in one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measure import write_result

NAME = "validation"
HEADLINE = "text to image R@10"


def remember(folder: Path, rows: list[dict[str, Any]], settings: Mapping[str, Any], seeds: list[int]) -> Path:
    """Add the trial to the file; one with the same settings takes the place of the former one."""
    path = folder / "flickr8k" / f"{NAME}.json"
    trials = json.loads(path.read_text())["trials"] if path.exists() else []
    named = ", ".join(f"{name} {value}" for name, value in settings.items())
    new = [
        {"settings": named, "system": row["system"], "seeds": seeds, HEADLINE: row[HEADLINE]} for row in rows
    ]
    replaced = {(row["settings"], row["system"]) for row in new}
    kept = [trial for trial in trials if (trial["settings"], trial["system"]) not in replaced]
    return write_result("flickr8k", NAME, packages=("torch",), folder=folder, trials=kept + new)
