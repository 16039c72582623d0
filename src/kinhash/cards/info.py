"""`info`: what a folder is, by its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kinhash.cards.encoder_card import read_card, read_weights
from kinhash.cards.encoder_facts import encoder_facts, evaluation_of
from kinhash.cards.names import CARD, CONFIG, ENCODER, HOME, JOINED
from kinhash.cards.run_files import read_config, read_metrics, read_object
from kinhash.codes import CODES_CARD
from kinhash.errors import FormatError, NotFoundError
from kinhash.index.head import NAME as HEAD
from kinhash.index.index import Index
from kinhash.items import FLOATS, CodedItems


@dataclass(frozen=True)
class Info:
    """`kind` is "encoder", "joined", "index", "codes", "run" or "photos"; `facts` are plain values for json."""

    path: str
    kind: str
    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it for json."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([f"{self.path}: {_KINDS[self.kind]}", *_lines(self.facts, "  ")])


def info(path: str | os.PathLike[str]) -> Info:
    """What the folder `path` is: an encoder, an index, codes, a run, or photos with their index; checksums are checked."""
    folder = Path(path)
    if not folder.is_dir():
        what = "is a file: name the folder that it lies in" if folder.exists() else "does not exist"
        raise NotFoundError(f"{folder} {what}")
    for name, kind in _SIGNS.items():
        if (folder / name).exists():
            return Info(str(folder), kind, _FACTS[kind](folder))
    raise NotFoundError(
        f"{folder} holds nothing that kinhash wrote: one of {', '.join(_SIGNS)} would tell what it is"
    )


def _encoder(folder: Path) -> dict[str, Any]:
    card = read_card(folder)
    read_weights(folder, card)
    try:
        facts, report = encoder_facts(card), evaluation_of(card)
    except (AttributeError, KeyError, TypeError) as error:
        raise FormatError(f"{folder / CARD} is damaged: {error!r}") from error
    if report is not None:
        facts |= {"protocol": report.describe_protocol(), "metrics": report.metrics}
    return facts


def _joined(folder: Path) -> dict[str, Any]:
    card = read_object(folder / JOINED)
    try:
        encoders = {str(i): _encoder(folder / str(i)) for i in range(int(card["encoders"]))}
        weights = [int(weight) for weight in card["weights"]]
        bits = sum(w * facts["bits"] for w, facts in zip(weights, encoders.values(), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{folder / JOINED} is damaged: {error!r}") from error
    return {"bits": bits, "weights": weights, "encoders": encoders}


def _index(folder: Path) -> dict[str, Any]:
    with Index.open(folder, read_only=True) as index:
        return asdict(index.stats())


def _codes(folder: Path) -> dict[str, Any]:
    items = CodedItems.load(folder)
    facts: dict[str, Any] = {"items": len(items.codes), "bits": items.codes.bits}
    if items.labels is not None:
        facts["classes"] = len(set(items.labels))
    return facts | {"floats": (folder / FLOATS).is_file()}


def _run(folder: Path) -> dict[str, Any]:
    config = read_config(folder)
    keys = ("method", "bits", "semantics", "samples", "recipe", "epochs", "batch", "lr", "seed")
    facts = {key: config[key] for key in keys if key in config}
    metrics = read_metrics(folder)
    facts["finished"] = bool(metrics)
    facts |= {key: metrics[key] for key in ("losses", "seconds") if key in metrics}
    if (folder / ENCODER / CARD).is_file():
        facts["encoder"] = _encoder(folder / ENCODER)
    if "metrics" in metrics and "metrics" not in facts.get("encoder", {}):
        facts["metrics"] = metrics["metrics"]  # of a run whose encoder does not carry them
    return facts


def _photos(folder: Path) -> dict[str, Any]:
    home = folder / HOME
    return {"index": _index(home / "index"), "encoder": _encoder(home / "encoder")}


def _lines(facts: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in facts.items():
        title = key.replace("_", " ")
        if isinstance(value, dict):
            lines += [f"{indent}{title}", *_lines(value, indent + "  ")] if value else []
        else:
            lines.append(f"{indent}{title:<24} {_shown(value)}")
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


# the file that tells, in this order: the folder of photos may hold anything else
_SIGNS = {
    CARD: "encoder",
    JOINED: "joined",
    HEAD: "index",
    CODES_CARD: "codes",
    CONFIG: "run",
    HOME: "photos",
}
_KINDS = {
    "encoder": "an encoder",
    "joined": "encoders whose codes stand side by side",
    "index": "an index",
    "codes": "codes",
    "run": "the folder of a training",
    "photos": "photos with their index",
}
_FACTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "encoder": _encoder,
    "joined": _joined,
    "index": _index,
    "codes": _codes,
    "run": _run,
    "photos": _photos,
}
