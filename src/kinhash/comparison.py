"""Several reports side by side: mean and deviation over seeds, and whether a difference is more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinhash.arrays import is_whole
from kinhash.errors import InputError
from kinhash.report import Report, checked_reports, format_value, title_of

# what must agree before two numbers may stand in one column
_SHARED = (
    "database",
    "n_queries",
    "n_database",
    "exclude_query",
    "labels_crc32",
    "ties",
    "formula",
    "k",
    "similarity",
)
_HEADLINES = ("mahp_", "map_", "kendall_tau", "accuracy", "unique_codes")  # what a table shows by default
_EXACT_UP_TO = 1000  # queries


@dataclass(frozen=True)
class Row:
    """One method: its seeds summarised, and its distance from the baseline metric by metric."""

    name: str
    representation: str
    seeds: int
    mean: dict[str, float]
    deviation: dict[str, float]  # sample standard deviation over seeds; NaN with one seed
    difference: dict[str, float]  # mean over queries of (this - baseline)
    p_value: dict[str, float]  # of that difference, by a paired sign-flip test over the queries


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; print it, or take `rows`."""

    protocol: dict[str, Any]
    baseline: str
    rows: tuple[Row, ...]
    metrics: tuple[str, ...]  # those that the table shows

    def __str__(self) -> str:
        table = [["", "seeds", *(title_of(m, self.protocol) for m in self.metrics)]]
        table += [
            [row.name, str(row.seeds), *(self._cell(row, m) for m in self.metrics)] for row in self.rows
        ]
        widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
        body = "\n".join(
            "  ".join(
                f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
                for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in table
        )
        return f"{body}\n{self._legend()}"

    def to_markdown(self) -> str:
        head = ["method", "seeds", *(title_of(m, self.protocol) for m in self.metrics)]
        lines = [head, ["---", *["---:"] * (len(head) - 1)]]
        lines += [
            [row.name, str(row.seeds), *(self._cell(row, m) for m in self.metrics)] for row in self.rows
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{self._legend()}\n"

    def _cell(self, row: Row, metric: str) -> str:
        if metric not in row.mean:
            return "-"
        text = format_value(metric, row.mean[metric])
        if row.seeds > 1:
            text += f" ± {format_value(metric, row.deviation[metric])}"
        p = row.p_value.get(metric)
        if p is None or math.isnan(p):
            return text
        return text + (" **" if p < 0.01 else " *" if p < 0.05 else " =")

    def _legend(self) -> str:
        return (
            f"± is the deviation over seeds; against {self.baseline!r}, paired over queries (sign flips): "
            "** p < .01, * p < .05, = no difference shown. The test speaks of these trained models, not of new seeds."
        )


def compare(
    reports: Sequence[Report],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    flips: int = 10_000,
) -> Comparison:
    """Put reports side by side: those of one name are seeds of one method, tested against `baseline` (default: the first).

    Seeds have one length and one metric. Where a name stands for codes and for vectors, the two are kept apart as
    'name, codes' and 'name, floats'.
    `metrics`: the columns of the table (default: mAHP, mAP, tau, accuracy, unique codes); `rows` hold all.
    The paired test: d_q is the difference of query q, averaged over seeds; under the hypothesis of no difference its
    sign is a coin, so p = share of `flips` random sign patterns whose |mean| reaches the one observed; beyond 1,000
    queries that distribution is taken at its normal limit, variance sum d_q^2.
    """
    checked_reports(reports, "compare")
    if not is_whole(flips) or flips < 1:
        raise InputError(f"flips is the number of sign patterns to draw, at least 1; got {flips!r}")
    check_protocols(reports)
    groups = _grouped(reports)
    baseline = next(iter(groups)) if baseline is None else baseline
    if baseline not in groups:
        raise InputError(f"the baseline {baseline!r} is none of the reports: {', '.join(groups)}")
    base = _mean_per_query(groups[baseline])
    rows = tuple(_row(name, group, base if name != baseline else {}, flips) for name, group in groups.items())
    found = tuple(dict.fromkeys(metric for row in rows for metric in row.mean))
    unknown = [metric for metric in metrics or () if metric not in found]
    if unknown:
        raise InputError(f"no report holds {unknown[0]!r}; they hold {', '.join(found)}")
    shown = tuple(metrics) if metrics is not None else tuple(m for m in found if m.startswith(_HEADLINES))
    return Comparison(reports[0].protocol, baseline, rows, shown)


def _grouped(reports: Sequence[Report]) -> dict[str, list[Report]]:
    """Reports by the name of their row."""
    kinds: dict[str, set[str]] = {}
    for report in reports:
        kinds.setdefault(report.name, set()).add(report.protocol["representation"])
    groups: dict[str, list[Report]] = {}
    for report in reports:
        kind = "codes" if report.protocol["representation"] == "bin" else "floats"
        name = report.name if len(kinds[report.name]) == 1 else f"{report.name}, {kind}"
        groups.setdefault(name, []).append(report)
    for group in groups.values():
        _check_seeds(group)
    return groups


def _check_seeds(group: Sequence[Report]) -> None:
    """Reports of one row, codes all or vectors all, are of one length and one metric."""
    unit = "bits" if group[0].protocol["representation"] == "bin" else "dimensions"
    for key, told in (("bits", f"have {{}} and {{}} {unit}"), ("metric", "are ranked by {!r} and {!r}")):
        for other in group[1:]:
            ours, theirs = group[0].protocol.get(key), other.protocol.get(key)
            if ours != theirs:
                raise InputError(
                    f"reports named {other.name!r} {told.format(ours, theirs)}, so they are no seeds of one method: "
                    "give each method a name of its own, as in evaluate(..., name='...')"
                )


def check_protocols(reports: Sequence[Report]) -> None:
    """Refuse reports whose numbers may not stand side by side."""
    for key in _SHARED:
        _check_same(reports, key)
    _check_same([report for report in reports if report.protocol.get("radius") is not None], "radius")


def _check_same(reports: Sequence[Report], key: str) -> None:
    for other in reports[1:]:
        ours, theirs = reports[0].protocol.get(key), other.protocol.get(key)
        if ours != theirs:
            raise InputError(
                f"{reports[0].name!r} and {other.name!r} were measured under different protocols: "
                f"{key} is {ours!r} and {theirs!r}. Evaluate them alike before comparing."
            )


def _row(name: str, group: list[Report], base: dict[str, NDArray[np.float64]], flips: int) -> Row:
    shared = [m for m in group[0].metrics if all(m in report.metrics for report in group)]
    values = {m: np.array([report.metrics[m] for report in group]) for m in shared}
    own = _mean_per_query(group)
    tests = {m: _sign_flip_test(own[m], base[m], flips) for m in own if m in base and m in shared}
    return Row(
        name,
        group[0].protocol["representation"],
        len(group),
        {m: float(v.mean()) for m, v in values.items()},
        {m: float(v.std(ddof=1)) if len(v) > 1 else float("nan") for m, v in values.items()},
        {m: difference for m, (difference, _) in tests.items()},
        {m: p for m, (_, p) in tests.items()},
    )


def _mean_per_query(group: list[Report]) -> dict[str, NDArray[np.float64]]:
    keys = [key for key in group[0].per_query if all(key in report.per_query for report in group)]
    return {key: np.mean([report.per_query[key] for report in group], axis=0) for key in keys}


def _sign_flip_test(ours: NDArray[np.float64], base: NDArray[np.float64], flips: int) -> tuple[float, float]:
    """(mean difference, p) of paired values; pairs with a NaN, a query without an answer, are left out."""
    difference = ours - base
    difference = difference[~np.isnan(difference)]
    if not len(difference):
        return float("nan"), float("nan")
    total = abs(difference.sum())
    if len(difference) > _EXACT_UP_TO:
        spread = float(np.sqrt((difference**2).sum()))
        return float(difference.mean()), math.erfc(total / spread / math.sqrt(2)) if spread else 1.0
    signs = np.random.default_rng(0).integers(0, 2, (flips, len(difference)), dtype=np.int8) * 2.0 - 1.0
    reached = int((np.abs(signs @ difference) >= total * (1 - 1e-12)).sum())
    return float(difference.mean()), (1 + reached) / (1 + flips)
