"""README.md of an encoder: what is known, written at every save, above what people add, which is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinhash.cards.encoder_facts import encoder_facts, evaluation_of

BEGIN, END = "<!-- kinhash: written anew at every save -->", "<!-- kinhash: end; what follows is yours -->"
_TITLES = {
    "takes": "takes",
    "bits": "bits of a code",
    "retrieves": "retrieves with",
    "float_metric": "metric of floats",
    "method": "method",
    "semantics": "semantics",
    "backbone": "network",
    "classes": "classes",
    "trained_on": "items trained on",
    "recipe": "recipe",
    "epochs": "epochs",
    "seed": "seed",
    "understands_text": "understands sentences, by",
    "weights": "weights",
    "bytes": "bytes of weights",
    "kinhash": "written by kinhash",
}
_FRONT = """---
license: unknown
library_name: kinhash
tags: [kinhash, semantic-hashing, binary-codes]
---
"""
_YOURS = """
## Licence
Not said yet: put it here and into `license:` at the top. Weights may be bound by the terms of the data they learned from.

## Data
Not said yet: which items, from where, who may use them.

## Limits
* Codes know what the semantics says, and nothing of colours, poses or styles unless it speaks of them.
* Things unlike all that it was trained on get codes, too; their neighbours mean little.
"""


def encoder_readme(card: Mapping[str, Any], old: str | None = None) -> str:
    """The page for this card. Of `old`, everything outside the marks stays; one without marks stays as it is."""
    made = f"{BEGIN}\n{_known(card)}\n{END}\n"
    if old is None:
        return f"{_FRONT}\n{made}{_YOURS}"
    if BEGIN not in old or END not in old:
        return old
    before, rest = old.split(BEGIN, 1)
    return before + made + rest.split(END, 1)[1].removeprefix("\n")


def old_readme(path: Path) -> str | None:
    """The text of the file, if it is there."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _known(card: Mapping[str, Any]) -> str:
    facts = encoder_facts(card)
    makes = f"codes of {facts['bits']} bits" if "bits" in facts else "floats"
    rows = "\n".join(f"| {_TITLES[key]} | {_shown(value)} |" for key, value in facts.items())
    parts = [f"# An encoder: {facts['takes']} to {makes}", f"| | |\n|---|---|\n{rows}"]
    if names := card.get("classes"):
        parts.append(
            "Classes: " + _shown(", ".join(map(str, names[:100]))) + (" ..." if len(names) > 100 else ".")
        )
    parts.append(f"## Measured\n{_measured(card)}")
    parts.append(f"## Use\n{_use(facts)}")
    return "\n\n".join(parts)


def _measured(card: Mapping[str, Any]) -> str:
    report = evaluation_of(card)
    if report is None:
        return "Not measured: `kh.train(..., test=...)` or `encoder.save(..., report=kh.evaluate(...))` says how good it is."
    return report.to_markdown().rstrip()


def _use(facts: Mapping[str, Any]) -> str:
    what = '"photo.jpg"' if facts["takes"] == "pictures" else "vectors"
    asked = ", floats=True" if "bits" not in facts else ""
    return (
        "`pip install 'kinhash[train,hub]'`; nothing in this folder is executed, and weights that do not match their "
        "checksum are refused.\n\n```python\nimport kinhash as kh\n\n"
        'encoder = kh.load_encoder("FOLDER")     # or "hub:USER/NAME"\n'
        f"codes = encoder.encode({what}{asked})\n```"
    )


def _shown(value: object) -> str:
    """A value inside a table: names are text, whatever they hold."""
    return re.sub(r"([|<>`\\\[\]])", r"\\\1", " ".join(str(value).split()))
