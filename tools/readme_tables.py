"""The measured tables of README.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import paper
from duels import duels, said, time_text
from marked_tables import Tables, one_file
from result_files import Result, grouped, number, provenance, table
from results_training import ours, plain, published, title
from shortfalls import shortfalls


@dataclass(frozen=True)
class Headline:
    """One row: which case of which file, against the fastest rival or the one that is named."""

    what: str
    file: str
    case: Mapping[str, Any]
    rival: str | None = None
    shown: tuple[str, ...] = ("N", "bits", "batch", "k")


_FLAT = {"bits": 64, "k": 10, "filter": None}
_NEAR = {"what": "near queries", "batch": 100}
_MULTI = "multi-index hashing, {}"
# a handful of each engine: the largest case, what long codes cost, and where a rival wins
HEADLINES = (
    Headline("scan", "flat", _FLAT | {"N": 50_000_000, "batch": 1}),
    Headline("scan", "flat", _FLAT | {"N": 50_000_000, "batch": 32}),
    Headline("scan", "flat", _FLAT | {"N": 50_000_000, "batch": 1000}),
    Headline("scan", "flat", _FLAT | {"bits": 128, "batch": 32}),
    Headline("scan", "flat", _FLAT | {"bits": 256, "batch": 32}),
    Headline("scan", "scaling", _FLAT | {"N": 10_000, "batch": 1}),
    *(
        Headline(
            _MULTI.format("uniform"),
            "multi-index",
            {"what": "random queries, headline"},
            rival,
            ("n", "bits", "batch", "k"),
        )
        for rival in ("faiss", "scan")
    ),
    *(
        Headline(
            _MULTI.format(f"{data}, near-duplicates"),
            "multi-index",
            _NEAR | {"data": data, "n": n, "bits": bits, "k": k},
            "scan",
            ("n", "bits", "batch", "k"),
        )
        for data, n, bits, k in (("clustered", 50_000_000, 64, 10), ("correlated", 1_000_000, 256, 100))
    ),
    Headline("index on disk, open it", "index", {"what": "open"}),
    Headline(
        "index on disk", "index", {"what": "batches of 1000, fsync of 0.2 ms (in memory)"}, shown=("what",)
    ),
    Headline("index on disk", "index", {"what": "single adds, fsync of 0.2 ms (in memory)"}, shown=("what",)),
    *(
        Headline("GPU", "gpu", {"N": 100_000_000, "bits": 64, "batch": batch, "k": 100, "codes": "uniform"})
        for batch in (1, 64)
    ),
)
_CALLED = {
    "faiss": "FAISS",
    "sqlite": "SQLite",
    "scan": "our scan",
    "torch, half-precision product, topk": "torch",
}


def search(results: Sequence[Result]) -> str:
    """The headlines."""
    rows, used = [], []
    for headline in HEADLINES:
        result = one_file(results, "search", headline.file)
        found = [duel for duel in duels(result) if duel.fits(headline.case)] if result else []
        if not result or not found:
            continue
        duel = found[-1]
        rival = headline.rival or min(duel.rivals, key=duel.rivals.__getitem__)
        what = ", ".join(part for part in (headline.what, said(duel.case, headline.shown)) if part)
        theirs = duel.rivals[rival]
        rows.append(
            [
                what.replace(" items", " codes"),
                time_text(duel.ours),
                f"{_CALLED.get(rival, rival)}: {time_text(theirs)}",
                number(theirs / duel.ours, 3),
            ]
        )
        used += [result] if result not in used else []
    if not rows:
        return "Not measured yet: `benchmarks/` holds the scripts."
    return f"{table(['exact search', 'kinhash', 'rival', 'times faster'], rows)}\n\n{provenance(used)}"


def metrics(results: Sequence[Result]) -> str:
    """All that metrics and losses have rivals for."""
    rows, used = [], []
    for result in results:
        found = duels(result) if result.topic in ("metrics", "losses") else []
        used += [result] if found else []
        for duel in found:
            name = result.topic if "what" in duel.case else result.name.upper().replace("-", ", ")
            what = f"{name}, {said(duel.case)}"
            for rival, seconds in duel.rivals.items():
                ratio = number(seconds / duel.ours, 3)
                rows.append([what, time_text(duel.ours), f"{rival}: {time_text(seconds)}", ratio])
    if not rows:
        return "Not measured yet: `benchmarks/metrics.py` and `losses.py`."
    columns = ["metrics and losses", "kinhash", "rival", "times faster"]
    return f"{table(columns, rows)}\n\n{provenance(used)}"


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
        runs = group.results[0].card.get("processes", 1)
        beside = f" ({runs} side by side)" if runs > 1 else ""
        name = f"{title(group)}, {group.config['epochs']} epochs, {seconds:.0f} s{beside}"
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


TABLES: Tables = {
    "search": search,
    "metrics": metrics,
    "cifar100": cifar,
    "demo": demo,
    "shortfalls": shortfalls,
}
