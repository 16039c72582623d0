"""Who was how fast at the same work: pairs the rows of one result file, in any shape that benchmarks write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from result_files import Result

OURS = ("kinhash", "multi-index")
# parts of us, and bounds of the hardware
_NO_RIVALS = (*OURS, "kernel", "bare", "read", "torch.sum", "unfiltered")
_UNITS = {"_seconds": 1.0, "_s": 1.0, "_ms": 1e-3, "_us": 1e-6, "_ns": 1e-9}
WORDS = ("what", "data", "codes", "queries", "filter", "dimensions")
SIZES = {
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
_CASE = (*WORDS, *SIZES)  # not `threads`: every engine is shown with the number of threads that suits it best
_PER_BATCH = ("gpu",)  # files whose seconds are those of a whole batch of queries


@dataclass(frozen=True)
class Duel:
    """The same work, done by us and by others in the same run."""

    case: Mapping[str, Any]
    ours: float  # seconds
    rivals: Mapping[str, float]  # engine -> seconds

    def fits(self, wanted: Mapping[str, Any]) -> bool:
        """Whether the case has all these values, a None among them meaning none."""
        return all(self.case.get(key) == value for key, value in wanted.items())


def duels(result: Result) -> list[Duel]:
    """All that one file measured of us and of rivals, smaller cases first; of equal cases the last counts."""
    cases: dict[str, Mapping[str, Any]] = {}
    times: dict[str, dict[tuple[str, Any], float]] = {}  # case -> (engine, threads) -> seconds
    for row in result.card.get("rows", []):
        case = {key: row[key] for key in _CASE if row.get(key) is not None}
        cases[repr(case)] = case
        share = 1 / row.get("batch", 1) if result.name in _PER_BATCH else 1.0
        for engine, seconds in _times(row):
            times.setdefault(repr(case), {})[engine, row.get("threads")] = seconds * share
    found = []
    for name, measured in times.items():
        best = _best(measured)
        ours = [best[engine] for engine in OURS if engine in best]
        rivals = {engine: value for engine, value in best.items() if not engine.startswith(_NO_RIVALS)}
        if ours and rivals:
            found.append(Duel(cases[name], ours[0], rivals))
    return sorted(found, key=lambda duel: [duel.case.get(key, 0) for key in ("bits", "batch")])


def said(case: Mapping[str, Any], keys: Sequence[str] = _CASE) -> str:
    """'1,000 codes, 64 bits, k = 10'."""
    words = [str(case[key]) for key in WORDS if key in case and key in keys]
    return ", ".join(
        words + [form.format(_size(case[key])) for key, form in SIZES.items() if key in case and key in keys]
    )


def time_text(seconds: float) -> str:
    """Three digits that count, in the unit that suits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _best(measured: Mapping[tuple[str, Any], float]) -> dict[str, float]:
    """Engine -> seconds with the number of threads that suits it best."""
    best: dict[str, float] = {}
    for (engine, _), seconds in measured.items():
        best[engine] = min(seconds, best.get(engine, seconds))
    return best


def _times(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """(engine, seconds), in any shape in use: a row per engine, a rival in the row, or `kinhash_ms`, `cdist_ms`."""
    if "seconds" in row:
        yield str(row.get("engine", OURS[0])), row["seconds"]
        if "rival" in row:
            yield str(row["rival"]), row["rival_seconds"]
        return
    for key, value in row.items():
        unit = next((unit for unit in _UNITS if key.endswith(unit)), None)
        if unit and isinstance(value, int | float):
            yield key.removesuffix(unit), value * _UNITS[unit]


def _size(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
