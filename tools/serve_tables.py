"""The measured table of docs/serve.md: the server under load."""

from __future__ import annotations

from collections.abc import Sequence

from marked_tables import Tables, one_file
from result_files import Result, number, provenance, table


def load(results: Sequence[Result]) -> str:
    """Queries a second and times of requests for every load, and the figures that have bars."""
    result = one_file(results, "serve", "load")
    if result is None:
        return "Not measured yet: results/serve/load.json."
    counts = ["connections", "queries a request"]
    measured = ["queries a second", "p50 ms", "p95 ms", "p99 ms"]
    rows = [
        [row["load"], *(str(row[name]) for name in counts), *(number(row[name], 3) for name in measured)]
        for row in result.card["rows"]
    ]
    ratio, least = (
        result.card["metrics"][f"64 at a time / one at a time{of}"] for of in ("", " at its fastest tenth")
    )
    said = (
        f"64 clients at a time get {number(ratio, 3)} times the queries of one client that asks again at once, and "
        f"{number(least, 3)} times as many as if that one always were as fast as in its fastest tenth."
    )
    return f"{table(['load', *counts, *measured], rows)}\n\n{said}\n\n{provenance([result])}"


TABLES: Tables = {"load": load}
