"""`Report`: what an evaluation found, together with the protocol that gives the numbers their meaning."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinhash.errors import FormatError, InputError, NotFoundError, StorageError

if TYPE_CHECKING:
    from rich.table import Table

_FORMAT = "kinhash-report"
_VERSION = 1

# metric -> what a person reads; {k} and {radius} come from the protocol, {of} names the similarity
_TITLES = {
    "mahp": "mAHP@{k}{of}",
    "hp_at_k": "HP@{k}{of}",
    "map_full": "mAP, whole ranking",
    "map_at_k_found": "mAP@{k} / hits found",
    "map_at_k_relevant": "mAP@{k} / min(k, relevant)",
    "precision_at_k": "precision@{k}",
    "recall_at_k": "recall@{k}",
    "hit_at": "hit@{cutoff}",
    "precision_within_radius": "precision within Hamming radius {radius}",
    "kendall_tau": "Kendall's tau-b, codes against targets",
    "accuracy": "accuracy",
    "balanced_accuracy": "accuracy, mean over classes",
    "mean_nn_hamming_512": "mean nearest-neighbour Hamming distance in batches of 512",
    "bucket_entropy": "entropy of codes, bits",
    "unique_codes": "unique codes",
    "largest_bucket": "largest bucket: items of one code",
    "bit_balance": "bit balance, 1 = every bit splits the set evenly",
    "bit_correlation": "bit correlation, mean absolute r between bits",
    "constant_bits": "bits that never change",
    "multi_index_candidates": "candidates a query reads in multi-index hashing, 16-bit chunks",
}
_PER_QUERY_DECIMALS = 6
_COUNTS = ("unique_codes", "largest_bucket", "constant_bits")


@dataclass(frozen=True, eq=False)
class Report:
    """Metrics of one set of codes or vectors under one named protocol.

    `metrics` are means; `per_query` holds the values behind those that have them (NaN where a query has none), which
    paired tests need; `curves` holds HP@1..k, one curve a similarity.
    """

    name: str
    protocol: dict[str, Any]
    metrics: dict[str, float]
    curves: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    per_query: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> float:
        if metric not in self.metrics:
            raise NotFoundError(f"this report has no {metric!r}; it has {', '.join(self.metrics)}")
        return self.metrics[metric]

    def __str__(self) -> str:
        rows = [(self.title(key), format_value(key, value)) for key, value in self.metrics.items()]
        width = max((len(title) for title, _ in rows), default=0)
        lines = [self.name, self.describe_protocol()]
        return "\n".join(lines + [f"  {title:<{width}}  {value:>8}" for title, value in rows])

    def __rich__(self) -> Table:
        """The table as `rich.print(report)` shows it."""
        from rich.table import Table

        table = Table(
            title=self.name, caption=self.describe_protocol(), title_justify="left", caption_justify="left"
        )
        table.add_column("metric")
        table.add_column("value", justify="right")
        for key, value in self.metrics.items():
            table.add_row(self.title(key), format_value(key, value))
        return table

    def title(self, metric: str) -> str:
        """The metric in words: 'mahp_wup' -> 'mAHP@250, wup'."""
        return title_of(metric, self.protocol)

    def describe_protocol(self) -> str:
        """One sentence that names everything the numbers depend on."""
        p = self.protocol
        where = (
            "each query against all others of the set"
            if p["database"] == "queries"
            else f"against a database of {p['n_database']:,}"
        )
        kind = (
            f"{p['bits']}-bit codes, Hamming"
            if p["representation"] == "bin"
            else f"{p['bits']}-d float vectors, {p['metric']}"
        )
        meaning = "; ".join(f"similarity {key} = {name}" for key, name in p["similarity"].items())
        return (
            f"{p['n_queries']:,} queries, {where}; {kind}; ties: {p['ties']}; k = {p['k']}; "
            f"AHP formula: {p['formula']}; {meaning or 'no similarity given'}"
        )

    def to_markdown(self) -> str:
        """Name, protocol and a table."""
        rows = "\n".join(
            f"| {self.title(key)} | {format_value(key, value)} |" for key, value in self.metrics.items()
        )
        return f"**{self.name}**: {self.describe_protocol()}\n\n| metric | value |\n|---|---:|\n{rows}\n"

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain Python types, ready for json; values per query, which are many, with six decimals."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "name": self.name,
            "protocol": self.protocol,
            "metrics": {key: _plain(value) for key, value in self.metrics.items()},
            "curves": {key: [_plain(v) for v in curve] for key, curve in self.curves.items()},
            "per_query": {
                key: [_plain(v, _PER_QUERY_DECIMALS) for v in row] for key, row in self.per_query.items()
            },
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `path`: json (everything, `load` reads it) or markdown (the table), by its suffix."""
        path = Path(path)
        if path.suffix == ".json":
            text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        elif path.suffix in (".md", ".markdown"):
            text = self.to_markdown()
        else:
            raise InputError(f"a report is saved as .json or .md, not as {path.name!r}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"cannot write the report to {path}: {error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """What `save` wrote as json."""
        try:
            card = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise NotFoundError(f"cannot read the report {path}: {error}") from error
        except ValueError as error:
            raise FormatError(f"{path} is not json: {error}") from error
        if not isinstance(card, dict) or (card.get("format"), card.get("version")) != (_FORMAT, _VERSION):
            raise FormatError(f"{path} is no kinhash report of version {_VERSION}")
        try:
            return cls(
                card["name"],
                card["protocol"],
                _floats(card["metrics"]),
                {key: np.array(curve, dtype=np.float64) for key, curve in card["curves"].items()},
                {key: np.array(row, dtype=np.float64) for key, row in card["per_query"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"{path} is damaged: {error!r}") from error


def checked_reports(reports: Sequence[Report], purpose: str) -> None:
    """At least one report, and nothing else."""
    if isinstance(reports, Report) or not isinstance(reports, Sequence) or not reports:
        raise InputError(
            f"nothing to {purpose}: pass a list of at least one Report, got {type(reports).__name__}"
        )
    for place, report in enumerate(reports):
        if not isinstance(report, Report):
            raise InputError(
                f"item {place} is {type(report).__name__}, not a Report; kinhash.evaluate makes one"
            )


def title_of(metric: str, protocol: Mapping[str, Any]) -> str:
    """A metric's key in words, with the k, radius and similarity of `protocol` filled in."""
    stem, of, cutoff = metric, "", ""
    if metric.startswith("hit_at_"):
        stem, cutoff = "hit_at", metric.removeprefix("hit_at_")
    for key in protocol["similarity"]:
        if metric in (f"mahp_{key}", f"hp_at_k_{key}"):
            stem, of = metric.removesuffix(f"_{key}"), f", {key}"
    filled = {"k": protocol["k"], "radius": protocol.get("radius"), "of": of, "cutoff": cutoff}
    return _TITLES.get(stem, stem).format(**filled)


def format_value(metric: str, value: float) -> str:
    """Counts without decimals, everything else with four."""
    if np.isnan(value):
        return "none"
    return f"{value:,.0f}" if metric in _COUNTS else f"{value:.4f}"


def _plain(value: float, decimals: int | None = None) -> float | None:
    """A float that json can hold: NaN becomes null."""
    if np.isnan(value):
        return None
    return float(value) if decimals is None else round(float(value), decimals)


def _floats(values: Mapping[str, float | None]) -> dict[str, float]:
    return {key: float("nan") if value is None else float(value) for key, value in values.items()}
