"""Reads `results/**/*.json` and writes markdown tables of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """One file: its topic (the folder), its name, and what it holds."""

    topic: str
    name: str
    card: Mapping[str, Any]

    @property
    def config(self) -> Mapping[str, Any]:
        return self.card.get("config", {})

    def metric(self, key: str, part: str = "metrics") -> float | None:
        """A number, or None where the file has none."""
        value = self.card.get(part, {}).get(key)
        return None if value is None else float(value)


def read_results(folder: Path) -> list[Result]:
    """All results, by topic and name."""
    return [
        Result(path.parent.name, path.stem, json.loads(path.read_text()))
        for path in sorted(folder.glob("*/*.json"))
    ]


class Group:
    """Runs that differ in nothing but the seed."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.config = results[0].config

    def mean(self, key: str, part: str = "metrics") -> float | None:
        """Mean over the seeds; None where a run lacks the number."""
        values = [result.metric(key, part) for result in self.results]
        known = [value for value in values if value is not None]
        return statistics.fmean(known) if len(known) == len(values) else None

    def text(self, key: str, part: str = "metrics", digits: int = 4) -> str:
        """The mean, with the standard deviation over seeds where there are several."""
        mean = self.mean(key, part)
        if mean is None:
            return "-"
        if len(self.results) == 1:
            return number(mean, digits)
        spread = statistics.stdev(result.metric(key, part) or 0.0 for result in self.results)
        return f"{number(mean, digits)} ± {number(spread, digits)}"


def grouped(results: Iterable[Result]) -> list[Group]:
    """Results put together by configuration without the seed, in the order of their names."""
    found: dict[str, list[Result]] = {}
    for result in results:
        key = json.dumps(
            {name: value for name, value in result.config.items() if name != "seed"}, sort_keys=True
        )
        found.setdefault(key, []).append(result)
    return [Group(members) for members in found.values()]


def number(value: float, digits: int = 4) -> str:
    """Shares as .8690, whole numbers as they are, the rest with `digits` digits that count."""
    if float(value).is_integer() and abs(value) >= 2:
        return f"{value:,.0f}"
    if abs(value) <= 1:
        text = f"{value:.{digits}f}"
        return text.replace("0.", ".", 1)
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.{digits}g}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table whose first column is text and whose others are numbers."""
    lines = [f"| {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def short(commit: str) -> str:
    """Twelve digits of a commit, and whether files were changed."""
    digits, dash, tail = str(commit).partition("-")
    return digits[:12] + dash + tail


def provenance(results: Sequence[Result]) -> str:
    """Where numbers come from: hardware, versions, dates, commits."""

    def every(pick: Callable[[Mapping[str, Any]], object]) -> str:
        return ", ".join(sorted({str(pick(result.card)) for result in results}))

    packages = ("python", "torch")
    found = {
        f"{package} {result.card['versions'][package]}"
        for result in results
        for package in packages
        if package in result.card["versions"]
    }
    return (
        f"Measured on {every(lambda c: c['hardware'])}; {', '.join(sorted(found))}; {every(lambda c: c['date'])}; "
        f"commit {every(lambda c: short(c['commit']))}."
    )
