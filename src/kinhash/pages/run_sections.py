"""The parts of a report on a run that need codes and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinhash.errors import InputError
from kinhash.evaluation import evaluate
from kinhash.meaning.semantics import Semantics
from kinhash.pages import run_drawings as drawings
from kinhash.pages import run_measures as measures
from kinhash.pages.figures import Drawn, figure_of
from kinhash.pages.gallery import gallery
from kinhash.pages.markup import Html, tag
from kinhash.pages.page import section, table
from kinhash.pages.run_outputs import Outputs
from kinhash.pages.thumbnails import thumbnails
from kinhash.plots import plot_curves
from kinhash.report import Report, format_value

_K = 250


@dataclass
class Scored:
    """Sections of the page, the figures in them, and the metrics of the codes."""

    sections: list[Html] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)

    def show(self, title: str, figures: list[Drawn], *more: object) -> None:
        self.drawn += figures
        self.sections.append(section(title, *(figure_of(one) for one in figures), *more))


def scored_sections(
    outputs: Outputs,
    available: int,
    semantics: Mapping[str, Semantics],
    queries: int,
    megabytes: float,
    missing: list[str],
) -> Scored:
    """All that can be shown; what cannot is added to `missing`. `available` counts items before some were drawn."""
    made = Scored()
    similarity = next((one.similarity for one in semantics.values()), None)
    reports = _reports(outputs, semantics)
    codes = reports[-1]
    made.metrics = codes.metrics
    _metrics(made, reports, len(outputs.codes), available)
    if outputs.floats is None:
        missing.append("Floats beside the codes: the items hold none (encode with --floats).")
    _curves(made, reports)
    _confusion(made, outputs, semantics, missing)
    counts = measures.distance_counts(outputs.codes, outputs.labels, similarity)
    words = "Shares of pairs by Hamming distance: " + ", ".join(
        _spread(kind, row) for kind, row in counts.items()
    )
    made.show("Distances", [Drawn("distances", drawings.draw_distances(counts), words + ".")])
    _bits(made, outputs, codes)
    _costs(made, outputs)
    if outputs.split is None:
        missing.append("Best and worst queries as pictures: name the data set (--data) that was encoded.")
    elif queries:
        made.sections += _pictures(outputs, semantics, codes, queries, megabytes)
    return made


def _reports(outputs: Outputs, semantics: Mapping[str, Semantics]) -> list[Report]:
    """Of the floats where there are some, and of the codes."""
    options: dict[str, Any] = {
        "semantics": dict(semantics) or None,
        "k": min(_K, len(outputs.codes) - 1),
        "name": "test",
    }
    found = []
    if outputs.floats is not None:
        found.append(evaluate(outputs.floats, outputs.labels, **options))
    return [*found, evaluate(outputs.codes, outputs.labels, predictions=outputs.predictions, **options)]


def _metrics(made: Scored, reports: list[Report], n: int, available: int) -> None:
    codes = reports[-1]
    rows: list[tuple[object, ...]] = []
    for key in codes.metrics:
        cells = [
            format_value(key, report.metrics[key]) if key in report.metrics else "" for report in reports
        ]
        rows.append((codes.title(key), *cells))
    names = ("metric", "floats", "codes") if len(reports) > 1 else ("metric", "codes")
    drawn = "" if n == available else f" {n:,} of {available:,} items were drawn."
    made.sections.append(
        section(
            "Metrics",
            tag("p", codes.describe_protocol() + "." + drawn),
            tag("div", table(names, rows), class_="wide"),
        )
    )


def _curves(made: Scored, reports: list[Report]) -> None:
    figures = []
    for curve in reports[-1].curves:
        ends = ", ".join(
            f"{'codes' if report.protocol['representation'] == 'bin' else 'floats'} {report.curves[curve][-1]:.4f}"
            for report in reports
        )
        words = f"Hierarchical precision at 1 to k, floats solid and codes dashed; at the end {ends}."
        name = curve.removeprefix("hp_")
        figures.append(Drawn(f"hp-{name}", plot_curves(reports, similarity=name), words))
    if figures:
        made.show("Hierarchical precision", figures)


def _confusion(
    made: Scored, outputs: Outputs, semantics: Mapping[str, Semantics], missing: list[str]
) -> None:
    if outputs.predictions is None:
        missing.append("Confusion of classes: there are no predicted classes beside the codes.")
        return
    labels, guesses = outputs.labels, outputs.predictions
    wrong = int((labels != guesses).sum())
    figures = []
    for name, one in semantics.items():
        mistakes, others, weights = measures.mistakes_by_likeness(labels, guesses, one.similarity)
        if wrong:
            chance = float(others @ weights / max(weights.sum(), 1e-12))
            words = (
                f"Similarity of the true and the predicted class in {wrong:,} mistakes by {one.name}: mean "
                f"{mistakes.mean():.3f}, where guessing any other class gives {chance:.3f}."
            )
            figure = drawings.draw_mistakes(mistakes, others, weights, one.name)
            figures.append(Drawn(f"mistakes-{name}", figure, words))
    similarity = next((one.similarity for one in semantics.values()), None)
    first = measures.most_confused(labels, guesses, outputs.classes, similarity)
    rows: list[tuple[object, ...]] = [
        (
            one.true,
            one.predicted,
            one.times,
            f"{one.share:.1%}",
            "" if one.similarity is None else f"{one.similarity:.3f}",
        )
        for one in first
    ]
    header = ("true class", "predicted", "times", "share of the class", "similarity")
    said = f"{wrong:,} of {len(labels):,} classes were predicted wrongly."
    made.show("Confusion", figures, tag("p", said), table(header, rows) if rows else None)


def _bits(made: Scored, outputs: Outputs, codes: Report) -> None:
    unique, largest = int(codes["unique_codes"]), int(codes["largest_bucket"])
    words = (
        f"Share of ones of each bit, correlation between bits, and items by code: {unique:,} different codes of "
        f"{len(outputs.codes):,} items, the most common one has {largest:,}; bit balance {codes['bit_balance']:.3f}."
    )
    made.show("Bits", [Drawn("bits", drawings.draw_bits(outputs.codes), words)])


def _costs(made: Scored, outputs: Outputs) -> None:
    costs = measures.search_costs(outputs.codes)
    best = min(costs, key=lambda one: one.compared)
    words = (
        f"What multi-index hashing reads for the 10 nearest, by the length of its keys: at best {best.compared:,.0f} of "
        f"{len(outputs.codes):,} codes are compared, with keys of {best.key_bits:.3g} bits."
    )
    rows: list[tuple[object, ...]] = [
        (one.tables, f"{one.key_bits:.3g}", f"{one.candidates:,.0f}", f"{one.compared:,.0f}") for one in costs
    ]
    header = ("tables", "bits of a key", "entries read per query", "codes compared")
    figure = Drawn("search-cost", drawings.draw_costs(costs, len(outputs.codes)), words)
    made.show("Cost of searching", [figure], table(header, rows))


def _pictures(
    outputs: Outputs, semantics: Mapping[str, Semantics], codes: Report, count: int, megabytes: float
) -> list[Html]:
    """The queries of the highest and of the lowest average precision, with what they find."""
    assert outputs.split is not None
    key = next((f"mahp_{name}" for name in semantics), "map_full")
    scores = codes.per_query[key]
    order = [int(row) for row in np.argsort(-scores, kind="stable") if not np.isnan(scores[row])]
    count = min(count, len(order) // 2)
    if not count:
        raise InputError("no query has a score: every class has one item alone, so there is nothing to find")
    rows = order[:count] + order[-count:][::-1]
    kin = next(iter(semantics.values()), None)
    k = min(8, len(outputs.codes) - 1)
    ids = [outputs.split.ids[row] for row in rows]
    shown = gallery({"codes": outputs.codes}, outputs.split, queries=ids, k=k, semantics=kin)
    uses = Counter(row for one in shown.found for row in [one.query, *(hit.row for hit in one.rows["codes"])])
    small = thumbnails({row: shown.source(row) for row in uses}, uses, megabytes)
    blocks = [shown.block(i, one, small.found) for i, one in enumerate(shown.found, 1)]
    title = codes.title(key)
    return [
        section(
            f"Best queries by {title}",
            *(tag("p", f"{ids[i]}: {scores[rows[i]]:.3f}") for i in range(count)),
            *blocks[:count],
        ),
        section(
            f"Worst queries by {title}",
            *(tag("p", f"{ids[i]}: {scores[rows[i]]:.3f}") for i in range(count, 2 * count)),
            *blocks[count:],
            tag("p", small.note(), class_="faint"),
        ),
    ]


def _spread(kind: str, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    total = int(counts.sum())
    if not total:
        return f"{kind} none"
    return f"{kind} {counts @ np.arange(len(counts)) / total:.1f} on average"
