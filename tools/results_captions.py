"""The part of RESULTS.md that speaks of captions: the paper's Table 4 on Flickr8k, and photos found by sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from result_files import Result, grouped, number, provenance, table

HASHING = """\
6,000 photos with five captions each to learn from; the 1,000 others search each other. Likeness is 1 - the
Manhattan distance of the photos' mean caption vectors (MiniLM), divided by the largest; tau is Kendall's, over the whole
ranking. The paper's figures are from Conceptual Captions with another sentence encoder: not comparable, they stand here
for orientation."""
TEXT = """\
recall@k on the 1,000 unseen photos: a sentence finds its photo, a photo one of its five sentences, a photo the one whose
captions mean most nearly the same. Ties at their expectation. The two-tower learns by InfoNCE through the same loop, with
the same towers, batch and schedule; codes of rivals are the signs of their floats."""
TRIALS = """\
On 1,000 of the training photos, held back; both systems get the same settings. Text to image R@10."""
PAPER = {"sim-kl": (0.7566, 0.7426, 0.2114, 0.0910), "reg": (0.7767, 0.7487, 0.0842, 0.0609)}
_KEYS = ("mahp_sentences_float", "mahp_sentences_bin", "kendall_tau_float", "kendall_tau_bin")
_BITS = ("mean_nn_hamming_512", "unique_codes", "bit_balance", "bit_correlation")
_NEIGHBOURS = ("caption_neighbours_10_at_10", "caption_neighbours_10_at_100")


def flickr(results: Sequence[Result]) -> str:
    """Both tables."""
    parts = ["## Flickr8k: captions", provenance(results)]
    hashed = [result for result in results if not {"rows", "trials"} & set(result.card)]
    if hashed:
        columns = ["64 bits", "backbone", "epochs", "mAHP@250 float", "bin", "tau float", "bin"]
        columns += ["mean NN Hamming", "unique codes", "bit balance", "bit correlation"]
        columns += ["10 caption neighbours in 10", "in 100", "paper: mAHP float / bin, tau float / bin"]
        rows = []
        for group in grouped(hashed):
            method = str(group.config["method"])
            known = PAPER.get(method)
            there = "-" if known is None else " / ".join(number(value) for value in known)
            head = [method.upper(), str(group.config["backbone"]), str(group.config["epochs"])]
            rows.append([*head, *(group.text(key) for key in (*_KEYS, *_BITS, *_NEIGHBOURS)), there])
        parts += ["### Codes that follow captions (the paper's Table 4)", HASHING, table(columns, rows)]
    for result in results:
        if result.card.get("rows"):
            parts += [f"### Photos found by sentences ({result.name})", TEXT, _text(result)]
        if result.card.get("trials"):
            parts += ["### Settings tried for them", TRIALS, _trials(result)]
    return "\n\n".join(parts)


def _text(result: Result) -> str:
    ways = ("text to image", "image to text", "image to image")
    keys = [f"{way} R@{k}" for way in ways for k in (1, 5, 10)]
    rows = [
        [row["system"], *(_mean(row, key) for key in keys), str(row["seeds"])] for row in result.card["rows"]
    ]
    shown = table(["", *keys, "seeds"], rows)
    ratio = result.metric("codes / floats of the two-tower")
    if ratio is None:
        return shown
    met = "reached" if ratio >= 0.9 else "missed"
    return (
        f"{shown}\n\nCodes reach {number(ratio)} of the float two-tower's text to image R@10 (aim .9: {met})."
    )


def _mean(row: Mapping[str, Any], key: str) -> str:
    """With its deviation over the seeds where it is known."""
    spread = row.get(f"deviation of {key}")
    return number(row[key]) if spread is None else f"{number(row[key])} ± {number(spread)}"


def _trials(result: Result) -> str:
    """A row for every setting, a column for every kind of output."""
    found: dict[str, dict[str, str]] = {}
    for trial in result.card["trials"]:
        found.setdefault(trial["settings"], {})[trial["system"]] = number(trial["text to image R@10"])
    systems = list(dict.fromkeys(trial["system"] for trial in result.card["trials"]))
    rows = [[name, *(values.get(system, "-") for system in systems)] for name, values in found.items()]
    return table(["settings", *systems], rows)
