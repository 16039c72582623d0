"""The part of RESULTS.md that speaks of classes never seen in training: two protocols, two tables."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from result_files import Result, grouped, number, provenance, table

CODES = """\
No picture of an unseen class is known: it is placed by its gloss (MiniLM) or by WordNet (Wu-Palmer), and every picture of
the unseen classes is to be named among them. All methods build on the same features, those of the backbone that CLASS
trained, have 12 settings to choose from, and chose on three folds of the seen classes. *HP*: hierarchical precision
(Wu-Palmer)."""
RETRIEVAL = """\
Labelled pictures of the unseen classes, the training part, are searched by the validation part: *hit@K* is the chance that a
picture of the right class is among the K nearest. This is the paper's protocol, not to be compared with the other table."""
CHOICE = "The same on the folds, seen classes held back from training: what the weight of the entropy term is chosen by."
_CUTOFFS = (1, 2, 5, 10, 20)
_OURS, _RIVALS = ("kin", "kin, 64 bits"), ("conse", "sync", "exem", "bzsl, 64 bits")
Row = Mapping[str, Any]


def zero_shot(results: Sequence[Result]) -> str:
    """Both tables, and the goals."""
    parts = ["## Zero-shot", provenance(results)]
    coded = [result for result in results if result.card["protocol"]["mode"] == "class-code"]
    searched = [result for result in results if result.card["protocol"]["mode"] == "retrieval"]
    plain = [result for result in searched if "fold" not in result.config]
    folds = [result for result in searched if "fold" in result.config]
    spread = "± is the standard error over networks of different seeds"
    for group in grouped(coded):
        classes = f"{group.config['seen']} seen classes, {group.config['unseen']} unseen"
        parts += [
            f"### class-code: {classes} ({group.config['backbone']}, {group.config['epochs']} epochs)",
            f"{CODES} {spread}.",
            _class_codes(group.results),
        ]
    if plain:
        parts += ["### retrieval among unseen classes", f"{RETRIEVAL} {spread}.", _retrieval(plain)]
    if folds:
        parts += ["### retrieval on the folds", CHOICE, _retrieval(folds)]
    return "\n\n".join(parts)


def _class_codes(results: Sequence[Result]) -> str:
    """Rows of several seeds put together, and whether ours is ahead at every K."""
    found: dict[tuple[str, str], list[Row]] = {}
    for result in results:
        for row in result.card["rows"]:
            found.setdefault((row["classes by"], row["method"]), []).append(row)
    first = next(iter(found.values()))[0]
    keys = [f"{name}@{k}" for name in ("hit", "hp") for k in _CUTOFFS if f"{name}@{k}" in first]
    columns = ["classes by", "method", *(key.replace("hp", "HP") for key in keys)]
    shown = [[*pair, *(_mean(rows, key) for key in keys)] for pair, rows in found.items()]
    goals = [_ahead(found, source) for source in dict.fromkeys(source for source, _ in found)]
    return table(columns, shown) + "\n\n" + " ".join(goals)


def _ahead(found: Mapping[tuple[str, str], Sequence[Row]], source: str) -> str:
    """The goal: ours beats each of the others at every K."""

    def hit(method: str, key: str) -> float:
        return statistics.fmean(row[key] for row in found[source, method])

    first = found[source, _OURS[0]][0]
    keys = [f"hit@{k}" for k in _CUTOFFS if f"hit@{k}" in first]
    behind = [key for key in keys if hit(_OURS[0], key) <= max(hit(rival, key) for rival in _RIVALS)]
    codes = [key for key in keys if hit(_OURS[1], key) <= hit(_RIVALS[-1], key)]
    return (
        f"By {source}: kin beats ConSE, SynC, EXEM and BZSL at every K: {_verdict(behind)}; its codes those of BZSL: "
        f"{_verdict(codes)}."
    )


def _verdict(missed: Sequence[str]) -> str:
    return f"no, not at {', '.join(missed)}" if missed else "yes"


def _retrieval(results: Sequence[Result]) -> str:
    keys = [f"hit_at_{k}_{kind}" for kind in ("bin", "float") for k in _CUTOFFS]
    keys += ["mahp_wup_bin", "mahp_wup_float", "seen_accuracy"]
    columns = [*(f"hit@{k} {kind}" for kind in ("bin", "float") for k in _CUTOFFS)]
    columns += ["mAHP WUP bin", "float", "accuracy, seen"]
    members: dict[str, list[Result]] = {}
    for result in results:
        members.setdefault(_name(result.config), []).append(result)
    rows = []
    for name, own in members.items():
        known = [{key: result.metric(key) for key in keys} for result in own]
        rows.append([name, str(len(own)), *(_mean(known, key) for key in keys)])
    return table(["64 bits", "networks", *columns], rows) + _first_hit(members)


def _first_hit(members: Mapping[str, Sequence[Result]]) -> str:
    """The goal: with KL at hit@1 ahead of CLASS, which the paper's is not."""
    best = {
        name: statistics.fmean(result.metric("hit_at_1_bin") or 0.0 for result in own)
        for name, own in members.items()
    }
    plain = best.get("CLASS")
    if plain is None:
        return ""
    margins = {name: value - plain for name, value in best.items() if name.startswith("SIM-KL-CLASS")}
    told = [f"{name} {'+' if margin > 0 else ''}{number(margin)}" for name, margin in margins.items()]
    return f"\n\nhit@1 of codes, over CLASS: {', '.join(told)}." if told else ""


def _name(config: Mapping[str, Any]) -> str:
    """The method and what was changed, without the fold."""
    changed = [part for part in str(config.get("variant", "")).split("-") if part and part[:4] != "fold"]
    return ", ".join([str(config["method"]).upper(), *changed])


def _mean(rows: Sequence[Row], key: str) -> str:
    """Mean and its standard error."""
    values = [row[key] for row in rows if row.get(key) is not None]
    if not values:
        return "-"
    mean = number(statistics.fmean(values))
    if len(values) == 1:
        return mean
    return f"{mean} ± {number(statistics.stdev(values) / len(values) ** 0.5)}"
