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
from result_files import Result, number, provenance, table
from results_training import ours, plain, published

OURS = "kinhash"
_UNITS = {"_seconds": 1.0, "_s": 1.0, "_ms": 1e-3, "_us": 1e-6, "_ns": 1e-9}
_SECONDS = ("seconds", "seconds_per_query", "seconds_per_pair")
_LARGE = {
    "N": "{} codes",
    "n": "{} items",
    "B": "batch {}",
    "batch": "batch {}",
    "bits": "{} bits",
    "d": "d = {}",
}
_SMALL = {"k": "k = {}", "radius": "radius {}", "threads": "{} threads", "levels": "{} levels"}
_WORDS = ("what", "data", "codes", "dimensions")
_CASE = (*_WORDS, *_LARGE, *_SMALL)
_MOST = 8  # lines of one file: README shows, RESULTS.md tells all
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
        chosen = [result for result in results if result.topic in topics]
        rows, used = [], []
        for result in chosen:
            fought = duels(result.card.get("rows", []))
            found = [line for duel in fought for line in _lines(duel, result.name)]
            rows += found[:_MOST]
            used += [result] if found else []
        if not rows:
            return f"Not measured yet: {what}."
        return f"{table([what, OURS, 'rival', 'times faster'], rows)}\n\n{provenance(used)}"

    return build


def duels(rows: Sequence[Mapping[str, Any]]) -> Iterator[Duel]:
    """Rows of one engine each, or rows that hold the times of several (`kinhash_ms`, `cdist_ms`)."""
    cases: dict[str, Duel] = {}
    for row in rows:
        case = {key: row[key] for key in _CASE if row.get(key) is not None}
        if "engine" in row:
            seconds = next((row[key] for key in _SECONDS if key in row), None)
            times = {} if seconds is None else {str(row["engine"]): float(seconds)}
        else:
            times = dict(_times(row))
        known = cases.get(repr(case), Duel(case, {}))
        cases[repr(case)] = Duel(case, {**known.seconds, **times})
    return (duel for duel in cases.values() if OURS in duel.seconds and len(duel.seconds) > 1)


def cifar(results: Sequence[Result]) -> str:
    """The sums of losses beside the paper's, with one network; then the best codes of 64 bits."""
    chosen = [r for r in results if r.topic == "cifar100" and r.config.get("bits") == 64]
    groups = plain(chosen)
    if not groups:
        return "Not measured yet: `experiments/cifar100.py` trains and scores what stands here."
    order = list(paper.ABLATIONS)
    same = [g for g in groups if g.config["backbone"] == "resnet110w" and g.config["method"] in order]
    same.sort(key=lambda group: (order.index(group.config["method"]), group.config["epochs"]))
    rest = [group for group in groups if group not in same]
    best = sorted(rest, key=lambda group: -(group.mean("mahp_wup_bin") or 0))[:1]
    rows = []
    for group in [*same, *best]:
        known = paper.ABLATIONS[group.config["method"]] if group in same else None
        there = ["-"] * 3 if known is None else published(known)
        name = (
            f"{group.config['method'].upper()}, {group.config['backbone']}, {group.config['epochs']} epochs"
        )
        rows.append([name, *ours(group)[:6], *there])
    columns = ["64 bits", "mAHP WUP float", "bin", "mAHP LCS float", "bin", "mAP@250 bin", "accuracy"]
    columns += ["paper: mAHP float / bin", "mAP", "accuracy"]
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


def _times(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in row.items():
        for unit, factor in _UNITS.items():
            if key.endswith(unit) and isinstance(value, int | float):
                yield key.removesuffix(unit), value * factor
                break


def _lines(duel: Duel, name: str) -> list[list[str]]:
    mine = duel.seconds[OURS]
    case = duel.case if "what" in duel.case else {"what": name, **duel.case}
    return [
        [_said(case), _time(mine), f"{rival}: {_time(seconds)}", number(seconds / mine, 3)]
        for rival, seconds in duel.seconds.items()
        if rival != OURS
    ]


def _said(case: Mapping[str, Any]) -> str:
    words = [str(case[key]) for key in _WORDS if key in case]
    sizes = [form.format(_size(case[key])) for key, form in {**_LARGE, **_SMALL}.items() if key in case]
    return ", ".join(words + sizes).replace("1 threads", "1 thread")


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
