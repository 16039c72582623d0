"""The measured tables of README.md: written between markers, from `results/`, so that no number is typed by hand.

A marker line `<!-- measured: NAME -->` opens a table, `<!-- end -->` closes it; NAME is a key of `TABLES`. A table whose
result files are not there yet says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import paper
from result_files import Result, grouped, number, provenance, table
from results_training import ours, plain, published, title

OURS = "kinhash"
_NO_RIVALS = (
    "kinhash",
    "kernel",
    "bare",
    "read",
    "torch.sum",
    "unfiltered",
)  # parts of us, and bounds of the hardware
_UNITS = {"_seconds": 1.0, "_s": 1.0, "_ms": 1e-3, "_us": 1e-6, "_ns": 1e-9}
_WORDS = ("what", "data", "codes", "queries", "filter", "dimensions")
_SIZES = {
    "N": "{} codes",
    "n": "{} items",
    "B": "batch {}",
    "bits": "{} bits",
    "d": "d = {}",
    "batch": "batch {}",
    "k": "k = {}",
    "radius": "radius {}",
    "levels": "{} levels",
}
_CASE = (
    *_WORDS,
    *_SIZES,
)  # not `threads`: every engine is shown with the number of threads that suits it best
_MOST = 12  # lines of one file: README shows, RESULTS.md tells all
_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Duel:
    """The same work, done by us and by others in the same run."""

    case: Mapping[str, Any]
    seconds: Mapping[str, float]  # engine -> seconds


def filled(text: str, results: Sequence[Result]) -> str:
    """`text` with every marked table written anew."""

    def one(match: re.Match[str]) -> str:
        return f"{match[1]}{TABLES[match[2]](results)}\n{match[3]}"

    return _MARKED.sub(one, text)


def speed(topics: Sequence[str], what: str) -> Callable[[Sequence[Result]], str]:
    """A table of all duels of some topics."""

    def build(results: Sequence[Result]) -> str:
        rows, used = [], []
        for result in results:
            found = _lines(result) if result.topic in topics else []
            rows += found[:_MOST]
            used += [result] if found else []
        if not rows:
            return f"Not measured yet: {what}."
        return f"{table([what, OURS, 'rival', 'times faster'], rows)}\n\n{provenance(used)}"

    return build


def duels(result: Result) -> list[Duel]:
    """All that one file measured of us and of rivals, smaller cases first."""
    cases: dict[str, Mapping[str, Any]] = {}
    times: dict[
        str, dict[tuple[str, Any], float]
    ] = {}  # case -> (engine, threads) -> seconds, of several the last
    for row in result.card.get("rows", []):
        case = {key: row[key] for key in _CASE if row.get(key) is not None}
        cases[repr(case)] = case
        for engine, seconds in _times(row, _share(result, row)):
            times.setdefault(repr(case), {})[engine, row.get("threads")] = seconds
    every = [Duel(cases[name], _best(measured)) for name, measured in times.items()]
    fought = [duel for duel in every if OURS in duel.seconds and _rivals(duel)]
    least = min((duel.case["k"] for duel in fought if "k" in duel.case), default=None)
    fought = [duel for duel in fought if duel.case.get("k", least) == least]
    return sorted(fought, key=lambda duel: [duel.case.get(key, 0) for key in ("bits", "batch")])


def cifar(results: Sequence[Result]) -> str:
    """The sums of losses beside the paper's, with one network; then the best codes of 64 bits."""
    chosen = [r for r in results if r.topic == "cifar100" and r.config.get("bits") == 64]
    if not chosen:
        return "Not measured yet: `experiments/cifar100.py` trains and scores what stands here."
    order = list(paper.ABLATIONS)
    same = [group for group in plain(chosen) if group.config["backbone"] == "resnet110w"]
    same.sort(key=lambda group: (order.index(group.config["method"]), group.config["epochs"]))
    others = grouped(result for result in chosen if result.config["backbone"] != "resnet110w")
    best = sorted(others, key=lambda group: -(group.mean("mahp_wup_bin") or 0))[:1]
    rows = []
    for group in [*same, *best]:
        seconds = group.mean("train", "seconds")
        name = f"{title(group)}, {group.config['epochs']} epochs, {seconds:.0f} s"
        rows.append([name, *ours(group)[:6], *published(paper.ABLATIONS[group.config["method"]])])
    columns = ["64 bits", "mAHP WUP float", "bin", "mAHP LCS float", "bin", "mAP@250 bin", "accuracy"]
    columns += ["paper, ResNet-110w: mAHP float / bin", "mAP", "accuracy"]
    used = [result for group in [*same, *best] for result in group.results]
    return f"{table(columns, rows)}\n\n{provenance(used)}"


def demo(results: Sequence[Result]) -> str:
    """What the demo prints."""
    found = [result for result in results if result.topic == "demo"]
    if not found:
        return "Not measured yet: `benchmarks/demo.py` runs the demo."
    rows = [
        [row["what"], *(number(row[key]) for key in ("trained", "hyperplanes"))]
        for row in found[0].card["rows"]
    ]
    return f"{table(['64 bits', 'trained head', 'random hyperplanes'], rows)}\n\n{provenance(found)}"


def _best(measured: Mapping[tuple[str, Any], float]) -> dict[str, float]:
    """Engine -> seconds with the number of threads that suits it best."""
    best: dict[str, float] = {}
    for (engine, _), seconds in measured.items():
        best[engine] = min(seconds, best.get(engine, seconds))
    return best


def _share(result: Result, row: Mapping[str, Any]) -> float:
    """What makes the seconds of a row seconds per query: searches are timed per batch, unless the file says otherwise."""
    per_query = "per query" in str(result.card.get("protocol", {}).get("seconds", ""))
    return 1.0 if per_query or result.topic != "search" else 1 / row.get("batch", 1)


def _times(row: Mapping[str, Any], share: float) -> Iterator[tuple[str, float]]:
    """(engine, seconds), in any shape in use: a row per engine, a rival in the row, or `kinhash_ms`, `cdist_ms`."""
    if "seconds" in row:
        yield str(row.get("engine", OURS)), row["seconds"] * share
        if "rival" in row:
            yield str(row["rival"]), row["rival_seconds"] * share
        return
    for key, value in row.items():
        unit = next((unit for unit in _UNITS if key.endswith(unit)), None)
        if unit and isinstance(value, int | float):
            yield key.removesuffix(unit), value * _UNITS[unit] * share


def _rivals(duel: Duel) -> list[tuple[str, float]]:
    return [(name, seconds) for name, seconds in duel.seconds.items() if not name.startswith(_NO_RIVALS)]


def _lines(result: Result) -> list[list[str]]:
    lines = []
    for duel in duels(result):
        case = duel.case if "what" in duel.case else {"what": result.name, **duel.case}
        mine = duel.seconds[OURS]
        for name, seconds in _rivals(duel):
            lines.append([_said(case), _time(mine), f"{name}: {_time(seconds)}", number(seconds / mine, 3)])
    return lines


def _said(case: Mapping[str, Any]) -> str:
    words = [str(case[key]) for key in _WORDS if key in case]
    return ", ".join(words + [form.format(_size(case[key])) for key, form in _SIZES.items() if key in case])


def _size(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _time(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


TABLES: Mapping[str, Callable[[Sequence[Result]], str]] = {
    "search": speed(["search"], "exact search"),
    "metrics": speed(["metrics", "losses"], "metrics and losses"),
    "cifar100": cifar,
    "demo": demo,
}
