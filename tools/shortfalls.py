"""What was aimed at and missed: the bars of benchmarks and experiments that the stored results do not reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from marked_tables import one_file
from result_files import Result, number, table


@dataclass(frozen=True)
class Bar:
    """A figure of one file, and what it should be; the scripts' `--check` holds the same bars."""

    what: str
    topic: str
    file: str
    read: Callable[[Result], float]
    bar: float
    at_least: bool = True


def _worst_of_the_scan(result: Result) -> float:
    return max(1 / row["ratio"] for row in result.card["rows"] if row.get("engine") == "scan")


def _best_step(result: Result) -> float:
    [row] = [row for row in result.card["rows"] if row["backbone"] == "resnet110w"]
    return float(min(row[f"{way}_ms"] for way in ("off", "graph", "compile")))


def _flat(what: str, metric: str, bar: float) -> Bar:
    return Bar(what, "search", "flat", lambda result: float(result.card["metrics"][metric]), bar)


def _load(metric: str, bar: float) -> Bar:
    least = "p95" not in metric
    what = f"the server over 10M codes, {metric}"
    return Bar(what, "serve", "load", lambda result: float(result.card["metrics"][metric]), bar, least)


def _photos(metric: str, bar: float) -> Bar:
    what = f"photos of Flickr8k found by sentences, {metric}"
    return Bar(what, "flickr8k", "text", lambda result: float(result.card["metrics"][metric]), bar)


_FAISS = "{} of {} bits, times as fast as FAISS"
BARS = (
    _flat(_FAISS.format("one query over codes", 64), "batch 1, FAISS at its best / kinhash", 2),
    _flat(_FAISS.format("batches of 32 over codes", 64), "batch 32, FAISS / kinhash", 15),
    _flat(_FAISS.format("batches of 32 over codes", 128), "128 bits, batch 32, FAISS / kinhash", 10),
    _flat(_FAISS.format("batches of 32 over codes", 256), "256 bits, batch 32, FAISS / kinhash", 7),
    _flat("batches of 1,000 on two threads, times as fast as on one", "batch 1000, two threads / one", 1.8),
    Bar(
        "multi-index hashing on the worst codes, time over that of the scan",
        "search",
        "multi-index",
        _worst_of_the_scan,
        1.3,
        at_least=False,
    ),
    Bar(
        "a training step of ResNet-110w on an H200, 512 pictures, ms",
        "training",
        "step-cuda",
        _best_step,
        15,
        at_least=False,
    ),
    _load("single queries a second, 64 at a time", 300),
    _load("p95 of single queries, 64 at a time, ms", 100),
    _load("queries a second in requests of 32", 1500),
    _load("64 at a time / one at a time", 4),
    _photos("text to image R@10, codes", 0.25),
    _photos("codes / floats of the two-tower", 0.9),
)


def shortfalls(results: Sequence[Result]) -> str:
    """A row for every bar that is missed; those of trained codes stand in RESULTS.md."""
    rows, measured = [], False
    for bar in BARS:
        result = one_file(results, bar.topic, bar.file)
        if result is None:
            continue
        measured, value = True, bar.read(result)
        if (value < bar.bar) if bar.at_least else (value > bar.bar):
            rows.append([bar.what, f"{'≥' if bar.at_least else '≤'} {bar.bar:g}", number(value, 3)])
    if not measured:
        return "Not measured yet: `benchmarks/` holds the scripts."
    return table(["short of its aim", "aim", "measured"], rows) if rows else "Every bar is reached."
