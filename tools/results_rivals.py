"""The part of RESULTS.md that compares methods: one table for every kind of data, the best codes first."""

from __future__ import annotations

from collections.abc import Sequence

from result_files import Group, Result, grouped, number, provenance, table

ABOUT = {
    "rivals-cifar100": (
        "All methods, from pictures",
        "WRN-16-4, 30 epochs each, the recipe of the package where a method asks for nothing else. Methods that want given "
        "features (LSH, ITQ, ...) get those of the network that CLASS trained.",
    ),
    "rivals-cifar100-features": (
        "All methods, on features of a pretrained network",
        "EfficientNet-lite0 of ImageNet, pictures enlarged to 128 pixels; behind its features a hidden layer of 512, "
        "5 epochs each.",
    ),
    "rivals-cifar100-unseen": (
        "Unseen classes, from pictures",
        "Trained without 20 of the 100 classes, one of each coarse class; the test pictures of these 20 search each other.",
    ),
    "rivals-cifar100-unseen-features": (
        "Unseen classes, on features of a pretrained network",
        "Trained without 20 of the 100 classes, one of each coarse class; the test pictures of these 20 search each other. "
        "The features come from ImageNet, which knows kin of most of them.",
    ),
}
PROTOCOL = """\
64 bits where a method makes codes (one-hot: 128); floats by the metric of the method. All that learn from semantics learn
Wu-Palmer likeness. Test pictures search the other test pictures, ties at their expectation; mAP@250 is divided by the hits
found. *Compared*: with how many of the training codes an exact 10-nearest search through four tables of 16 bits compares
a test code. One seed, unless a spread is given."""
_RANKED = ("mahp_lcs_float", "mahp_wup_float", "mahp_lcs_bin", "mahp_wup_bin")
_MAP = ("map_full", "map_at_k_found")
_BITS = ("unique_codes", "mean_nn_hamming_512", "bit_balance", "multi_index_candidates_k10")


def rivals(results: Sequence[Result]) -> str:
    """One kind of data."""
    title, about = ABOUT[results[0].topic]
    groups = [group for group in grouped(results) if not group.config.get("variant")]
    groups.sort(key=lambda group: -_best(group))
    columns = ["method", "mAHP@250 LCS float", "WUP float", "LCS bin", "WUP bin", "mAP", "mAP@250"]
    columns += [
        "accuracy",
        "unique codes",
        "mean NN Hamming of 512",
        "bit balance",
        "compared",
        "training, s",
    ]
    rows = [
        [
            str(group.config["method"]),
            *(group.text(key) for key in _RANKED),
            *(group.text(f"{key}_{'float' if _floats_only(group) else 'bin'}") for key in _MAP),
            group.text("accuracy"),
            *(group.text(key) for key in _BITS),
            number(group.mean("train", "seconds") or 0.0, 3),
        ]
        for group in groups
    ]
    return "\n\n".join([f"## {title}", f"{about} {PROTOCOL}", provenance(results), table(columns, rows)])


def _floats_only(group: Group) -> bool:
    return group.mean("mahp_lcs_bin") is None


def _best(group: Group) -> float:
    return max(group.mean(f"mahp_lcs_{kind}") or 0.0 for kind in ("float", "bin"))


def held_out(results: Sequence[Result]) -> str:
    """Recipes compared where the test pictures are not looked at."""
    groups = sorted(grouped(results), key=lambda group: -(group.mean("mahp_wup_bin") or 0.0))
    columns = ["", "epochs", "mAHP WUP bin", "mAHP LCS bin", "mAP@250 bin", "accuracy"]
    keys = ("mahp_wup_bin", "mahp_lcs_bin", "map_at_k_found_bin", "accuracy")
    rows = [
        [
            ", ".join(str(group.config[key]) for key in ("method", "backbone", "variant")),
            str(group.config["epochs"]),
            *(group.text(key) for key in keys),
        ]
        for group in groups
    ]
    about = "A tenth of the training pictures of each class, held out: recipes are chosen here."
    return "\n\n".join(["## CIFAR-100, validation", about, provenance(results), table(columns, rows)])
