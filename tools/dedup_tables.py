"""The measured tables of docs/dedup.md: which code finds which altered copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from marked_tables import Tables, one_file
from result_files import Result, number, provenance, table

# method -> the head of its column
_SHOWN = {
    "perceptual hash": "plain hash",
    "hashes of parts and orientations": "with parts",
    "hashes of parts and orientations, then pixels": "then pixels (default)",
    "semantic codes, 256 bits": "semantic, 256 bits",
    "semantic codes, 256 bits, then pixels": "semantic, then pixels",
}


def _of(build: Callable[[Result], str]) -> Callable[[Sequence[Result]], str]:
    def made(results: Sequence[Result]) -> str:
        result = one_file(results, "dedup", "flickr8k")
        if result is None:
            return "Not measured yet: results/dedup/flickr8k.json."
        return f"{build(result)}\n\n{provenance([result])}"

    return made


def methods(result: Result) -> str:
    """Every method on the test half, as chosen on the other."""
    rows = [
        [
            row["method"],
            str(row["radius"]),
            "" if row["least_likeness"] is None else number(row["least_likeness"]),
            number(row["recall"]),
            number(row["precision"]),
            f"{row['false_pairs']} ({row['photos_confused']})",
        ]
        for row in result.card["rows"]
    ]
    names = ["method", "radius", "likeness", "recall", "precision", "false pairs (of so many photos)"]
    return table(names, rows)


def kinds(result: Result) -> str:
    """Recall by kind of copy."""
    shown = {row["method"]: row["recall_by_kind"] for row in result.card["rows"] if row["method"] in _SHOWN}
    columns = [name for name in _SHOWN if name in shown]
    rows = [
        [kind, *(number(shown[name][kind]) for name in columns)] for kind in result.card["config"]["kinds"]
    ]
    return table(["copy", *(_SHOWN[name] for name in columns)], rows)


TABLES: Tables = {"dedup-methods": _of(methods), "dedup-kinds": _of(kinds)}
