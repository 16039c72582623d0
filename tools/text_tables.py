"""The measured tables of docs/text.md: agreement of encoders with people, and speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marked_tables import Tables, one_file
from result_files import Result, number, provenance, table


def encoders(results: Sequence[Result]) -> str:
    """Every way to rate likeness: bytes, and rank correlations on both parts of STSbenchmark."""
    result = one_file(results, "text", "sts")
    if result is None:
        return "Not measured yet: results/text/sts.json."
    rows: Sequence[Mapping[str, Any]] = result.card["rows"]
    dev = {row["encoder"]: row for row in rows if row["split"] == "dev"}
    columns = ["", "bytes", "Spearman, test", "95 %", "Kendall, test", "Spearman, dev", "Kendall, dev"]
    cells = [
        [
            row["encoder"],
            "-" if row["bytes"] is None else number(row["bytes"]),
            number(row["spearman"]),
            f"{number(row['low'], 3)} to {number(row['high'], 3)}",
            number(row["kendall"]),
            number(dev[row["encoder"]]["spearman"]),
            number(dev[row["encoder"]]["kendall"]),
        ]
        for row in rows
        if row["split"] == "test"
    ]
    pairs = result.config["pairs"]
    return f"{table(columns, cells)}\n\n{pairs['test']:,} pairs in test, {pairs['dev']:,} in dev. {provenance([result])}"


def speed(results: Sequence[Result]) -> str:
    """Seconds, beside sentence-transformers."""
    result = one_file(results, "text", "speed")
    if result is None:
        return "Not measured yet: results/text/speed.json."
    rows = [[name, f"{value:.3g}"] for name, value in result.card["metrics"].items()]
    return f"{table(['', 'measured'], rows)}\n\n{provenance([result])}"


TABLES: Tables = {"encoders": encoders, "speed": speed}
