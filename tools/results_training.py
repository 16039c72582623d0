"""The part of RESULTS.md that speaks of trained networks: CIFAR-100 and ImageNet, the paper's figures beside ours."""

from __future__ import annotations

import json
from collections.abc import Sequence

import paper
from result_files import Group, Result, grouped, number, provenance, table

from kinhash.methods.contract import LossOptions

_ORDER = list(paper.ABLATIONS)
PROTOCOL = """\
How to read this. *mAHP@250* and *mAP@250* are measured on the 10,000 test pictures, each searching the
others; codes tie, and every value is the exact mean over all orders of ties. *WUP* is Wu-Palmer likeness in
WordNet (checked synsets, symmetric), *LCS* the height of the lowest common ancestor in the CIFAR-100 tree
of Barz & Denzler. The corrected formula of AHP is used, under which a perfect ranking scores .996. mAP@250
is divided by the hits found, as hashing papers do. The last weights are scored, never the best on test. The
paper names neither likeness nor database: its numbers fit WUP, and probably the training set as database;
the second table of each pair therefore searches the 50,000 training pictures."""
KL_WEIGHT = """\
The paper claims that spread-out codes make multi-index hashing fast, and never measures it. *Entries at
radius 0*: how many entries the four 16-bit tables of the 10,000 test codes return for a query of the set.
*Compared*: with how many of the 50,000 training codes an exact 10-nearest search through four such tables
compares a test code; a linear scan compares all."""


def cifar(results: Sequence[Result]) -> str:
    """All tables of CIFAR-100."""
    parts = ["## CIFAR-100", PROTOCOL, provenance(results)]
    parts += [bars(results), ablations(results), lengths(results), wide(results), kl_weight(results)]
    return "\n\n".join(part for part in parts if part)


def ablations(results: Sequence[Result]) -> str:
    """Table 2 of the paper."""
    groups = plain([r for r in results if r.config["backbone"] == "resnet110w" and r.config["bits"] == 64])
    if not groups:
        return ""
    groups.sort(key=lambda group: (_ORDER.index(group.config["method"]), group.config["epochs"]))
    return "\n\n".join(
        [
            "### Sums of losses: ResNet-110w, 64 bits (the paper's Table 2)",
            table(
                [
                    "test searches test",
                    "epochs",
                    "seeds",
                    *OURS,
                    "paper: mAHP float / bin",
                    "mAP",
                    "accuracy",
                ],
                [[*head(g), *ours(g), *published(paper.ABLATIONS[g.config["method"]])] for g in groups],
            ),
            train_table(groups),
        ]
    )


def lengths(results: Sequence[Result]) -> str:
    """Table 1 of the paper."""
    groups = plain(
        [r for r in results if r.config["backbone"] == "resnet110w" and r.config["method"] == "sim-kl-class"]
    )
    if len({group.config["bits"] for group in groups}) < 2:
        return ""
    groups.sort(key=lambda group: group.config["bits"])
    rows = []
    for group in groups:
        bits = group.config["bits"]
        known = paper.LENGTHS.get(bits)
        there = ["-"] * 3 if known is None else [number(value) for value in known]
        rows.append([f"{bits} bits", *head(group)[1:], *ours(group), *there])
    return "\n\n".join(
        [
            "### Code lengths: ResNet-110w, SIM-KL-CLASS (the paper's Table 1, there SIM-KL)",
            table(
                ["test searches test", "epochs", "seeds", *OURS, "paper: mAHP bin", "mAP", "accuracy"], rows
            ),
        ]
    )


def wide(results: Sequence[Result]) -> str:
    """Every other backbone, best codes first, with what the training took."""
    groups = grouped([r for r in results if r.config["backbone"] != "resnet110w"])
    if not groups:
        return ""
    groups.sort(key=lambda group: -(group.mean("mahp_wup_bin") or 0))
    columns = ["test searches test", "epochs", "seeds", "training, s", *OURS]
    rows = [[title(g), *head(g)[1:], g.text("train", "seconds", 3), *ours(g)] for g in groups]
    return "\n\n".join(["### Wide networks", table(columns, rows), train_table(groups)])


def kl_weight(results: Sequence[Result]) -> str:
    """The entropy term and searching: every network that was trained with and without it."""
    families: dict[tuple[object, ...], list[Group]] = {}
    for group in grouped(result for result in results if result.config["bits"] == 64):
        families.setdefault(_family(group), []).append(group)
    keys = ["mahp_wup_bin", "map_at_k_found_bin", "unique_codes", "largest_bucket", "bucket_entropy"]
    keys += ["multi_index_candidates", "multi_index_candidates_k10"]
    rows = [
        [title(group), f"{_kl_weight(group):g}", *head(group)[1:], *(group.text(key) for key in keys)]
        for family in families.values()
        if len({_kl_weight(group) for group in family}) > 1
        for group in sorted(family, key=_kl_weight)
    ]
    if not rows:
        return ""
    columns = ["", "KL weight", "epochs", "seeds", "mAHP WUP bin", "mAP@250 bin", "unique codes"]
    columns += [
        "largest bucket",
        "bucket entropy, bits",
        "MIH: entries at radius 0",
        "MIH: compared, k = 10",
    ]
    return "\n\n".join(
        ["### What the entropy term does for searching: 64 bits", KL_WEIGHT, table(columns, rows)]
    )


def _kl_weight(group: Group) -> float:
    """0 where the method has no such term."""
    parts = str(group.config["method"]).split("-")
    return float(group.config.get("kl_weight", LossOptions().kl_weight)) if "kl" in parts else 0.0


def _family(group: Group) -> tuple[object, ...]:
    """What is equal in runs that differ by the entropy term alone."""
    terms = tuple(part for part in str(group.config["method"]).split("-") if part != "kl")
    others = {k: v for k, v in group.config.items() if k not in ("method", "kl_weight", "variant", "seed")}
    return terms, json.dumps(others, sort_keys=True)


def bars(results: Sequence[Result]) -> str:
    """What was promised, and what was reached."""
    groups = [group for group in grouped(results) if group.config["bits"] == 64]
    quick = [group for group in groups if (group.mean("train", "seconds") or 1e9) < 60]
    rows = []

    def bar(what: str, candidates: Sequence[Group], key: str, low: float) -> None:
        found = [group for group in candidates if group.mean(key) is not None]
        top = max(found, key=lambda group: group.mean(key) or 0.0, default=None)
        reached = "-" if top is None else top.text(key)
        met = top is not None and (top.mean(key) or 0.0) >= low
        rows.append([what, number(low), reached, "-" if top is None else title(top), "yes" if met else "no"])

    bar("mAHP WUP bin, under 60 s of training", quick, "mahp_wup_bin", 0.8690)
    bar("mAHP WUP bin", groups, "mahp_wup_bin", 0.905)
    bar("mAHP LCS bin", groups, "mahp_lcs_bin", 0.86)
    bar("mAP@250 bin", groups, "map_at_k_found_bin", 0.70)
    best = max(groups, key=lambda group: group.mean("mahp_wup_bin") or 0.0, default=None)
    if best is not None:
        lost = (best.mean("mahp_wup_float") or 0.0) - (best.mean("mahp_wup_bin") or 0.0)
        rows.append(
            [
                "lost by binarising, best model",
                "≤ .0030",
                number(lost),
                title(best),
                "yes" if lost <= 0.003 else "no",
            ]
        )
        bar("unique codes of 10,000, best model", [best], "unique_codes", 5000)
    return "### Bars\n\n" + table(["64 bits", "bar", "reached", "by", "met"], rows)


def imagenet(results: Sequence[Result]) -> str:
    """ImageNet, or the small copy that shows the path."""
    groups = grouped(results)
    rows = []
    for group in groups:
        known = paper.IMAGENET.get(group.config["method"]) if results[0].topic == "imagenet" else None
        there = ["-"] * 3 if known is None else published(known)
        cells = [group.text("mahp_wup_float"), group.text("mahp_wup_bin"), group.text("map_at_k_found_bin")]
        rows.append([title(group), *head(group)[1:], *cells, group.text("accuracy"), *there])
    columns = ["", "epochs", "seeds", "mAHP WUP float", "bin", "mAP@250 bin", "accuracy"]
    columns += ["paper: mAHP float / bin", "mAP", "accuracy"]
    name = {"imagenet": "ImageNet", "tiny-imagenet": "Tiny-ImageNet (160 classes, 80 pictures each)"}
    return "\n\n".join([f"## {name[results[0].topic]}", provenance(results), table(columns, rows)])


OURS = ["mAHP WUP float", "bin", "mAHP LCS float", "bin", "mAP@250 bin", "accuracy", "unique codes"]


def ours(group: Group) -> list[str]:
    keys = ["mahp_wup_float", "mahp_wup_bin", "mahp_lcs_float", "mahp_lcs_bin", "map_at_k_found_bin"]
    return [*(group.text(key) for key in [*keys, "accuracy"]), group.text("unique_codes")]


def train_table(groups: Sequence[Group]) -> str:
    """The other reading of the protocol."""
    keys = ["mahp_wup_float", "mahp_wup_bin", "mahp_lcs_float", "mahp_lcs_bin", "map_at_k_found_bin"]
    rows = [
        [title(g), *head(g)[1:], *(g.text(key, "metrics_train_database") for key in keys)] for g in groups
    ]
    return table(["test searches train", "epochs", "seeds", *OURS[:5]], rows)


def published(values: Sequence[float]) -> list[str]:
    """mAHP float / bin, mAP, accuracy."""
    first, second, *rest = (number(value) for value in values)
    return [f"{first} / {second}", *rest]


def plain(results: Sequence[Result]) -> list[Group]:
    """Without the variants, which are trained with other options."""
    return [group for group in grouped(results) if "variant" not in group.config]


def head(group: Group) -> list[str]:
    return [group.config["method"].upper(), str(group.config["epochs"]), str(len(group.results))]


def title(group: Group) -> str:
    """Method, backbone and variant."""
    parts = [group.config["method"].upper(), group.config["backbone"], group.config.get("variant", "")]
    return ", ".join(part for part in parts if part)
