"""Flickr8k: codes that follow captions (the paper's Table 4), and photos found by sentences.

    python experiments/captions.py --table hashing --root DIR       # DIR holds captions.csv and the tars
    python experiments/captions.py --table text --root DIR --seeds 0 1 2
    python experiments/captions.py --table text --root DIR --validation --set match_weight=1   # adds to validation.json
    python experiments/captions.py --root DIR --check               # the bars, a minute, on photos held back
    python experiments/captions.py --table hashing --root DIR --backbone resnet50d --epochs 120  # from pictures, one GPU

Features of the frozen network and sentence vectors are computed once, minutes on two cores, into runs/flickr8k. The 6,000
training photos are learned from, the 1,000 of the part "dev" are searched; what was chosen was chosen on training photos
held back, see LOG.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from caption_data import BACKBONE, Captioned, Floats, Held, load
from caption_rivals import TWO_TOWER, WIDTH, cca, two_tower
from caption_scores import hashing, retrieval
from run import parsed_options

import kinhash as kh
from kinhash.models.asking import vector_floats

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from caption_trials import remember
from measure import RESULTS, ROOT, Check, verdict, write_result

METHODS = ("sim-kl", "reg", "sim-kl-reg")
OURS = "sim-kl-reg"
RIDGE = 1.0  # of CCA, the best of .01, .1, 1 and 10 on the validation photos
CHECKED_EPOCHS = 4
HEADLINE_BITS, RATIO = "text to image R@10, codes", "codes / floats of the two-tower"
BITS = {"hashing": 64, "text": WIDTH}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=["hashing", "text"], default="text")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--validation", action="store_true", help="judge on training photos held back")
    parser.add_argument("--check", action="store_true", help="text, few epochs, on photos held back")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--set", dest="options", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--only", nargs="+", help="some of the methods or systems")
    parser.add_argument("--backbone", help="train it from the pictures, in place of frozen features")
    parser.add_argument("--device")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "flickr8k")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    train, test = load(options.root, options.work, validation=options.validation or options.check)
    if options.check:
        options.table, options.epochs, options.only = "text", CHECKED_EPOCHS, ["ours", TWO_TOWER]
        options.validation = False  # no trial: nothing is written
    if options.table == "hashing":
        hashing_table(options, train, test)
        return 0
    metrics = text_table(options, train, test)
    bars = ((HEADLINE_BITS, 0.25), (RATIO, 0.9))
    return verdict([Check(what, metrics[what], bar) for what, bar in bars]) if options.check else 0


def hashing_table(options: argparse.Namespace, train: Captioned, test: Captioned) -> None:
    """Every sum of losses: one file each."""
    for method in options.only or METHODS:
        for seed in options.seeds:
            started = time.perf_counter()
            z = _trained_z(options, train, test, method, seed)
            seconds = {"train": round(time.perf_counter() - started, 1)}
            protocol, metrics = hashing(z, test)
            _tell(f"{method} seed {seed}", metrics)
            if not options.validation:
                name = f"{method}-{options.backbone or BACKBONE}-{BITS['hashing']}bits-seed{seed}"
                parts = {"protocol": protocol, "seconds": seconds, "metrics": metrics}
                _write(options, name, method, BITS["hashing"], seed=seed, **parts)


def text_table(options: argparse.Namespace, train: Captioned, test: Captioned) -> dict[str, float]:
    """Ours and its rivals, by floats and by codes: one file, and its headline."""
    found: dict[str, list[dict[str, float]]] = {}
    systems = options.only or ["ours", TWO_TOWER, "cca"]
    metrics: dict[str, float] = {}
    for place, seed in enumerate(options.seeds):
        for system in systems:
            if system == "cca" and seed != options.seeds[0]:
                continue  # nothing random in it
            with two_tower():
                photos, sentences = _sides(options, train, test, system, seed)
            for codes in (False, True):
                scores = retrieval(photos, sentences, test, codes=codes)
                name = f"{system}, {f'{WIDTH} bits' if codes else f'{WIDTH} floats'}"
                found.setdefault(name, []).append(scores)
                _tell(f"{name}, seed {seed}", scores)
        metrics = _told(options, found, options.seeds[: place + 1])
    return metrics


def _told(
    options: argparse.Namespace, found: Mapping[str, Sequence[Mapping[str, float]]], seeds: list[int]
) -> dict[str, float]:
    """Write what the seeds so far gave: a run that is cut short has not been for nothing."""
    rows = [_row(name, scores) for name, scores in found.items()]
    by_name = {row["system"]: row for row in rows}
    ours, tower = by_name.get(f"ours, {WIDTH} bits"), by_name.get(f"{TWO_TOWER}, {WIDTH} floats")
    metrics = {}
    if ours and tower:
        reached = ours["text to image R@10"]
        metrics = {HEADLINE_BITS: reached, RATIO: round(reached / tower["text to image R@10"], 4)}
        print(metrics, flush=True)
    if options.validation:
        settings = {"epochs": options.epochs, **parsed_options(options.options)}
        print(remember(options.results, rows, settings, seeds))
    elif not options.check:
        _write(options, "text", OURS, WIDTH, seeds=seeds, rows=rows, metrics=metrics)
    return metrics


def _sides(
    options: argparse.Namespace, train: Captioned, test: Captioned, system: str, seed: int
) -> tuple[Floats, Floats]:
    if system == "cca":
        return cca(train, test, RIDGE)
    own = {"method": OURS, "bits": WIDTH} if system == "ours" else {"method": TWO_TOWER}
    encoder = kh.train(
        train.split(),
        text=Held(train),
        epochs=options.epochs,
        seed=seed,
        progress=False,
        device=options.device,
        **own,
        **parsed_options(options.options),
    )
    return _both_views(encoder, test), vector_floats(encoder, test.sentences.vectors)


def _trained_z(
    options: argparse.Namespace, train: Captioned, test: Captioned, method: str, seed: int
) -> Floats:
    """Outputs for the test photos, of features or of the pictures themselves."""
    common: dict[str, Any] = {
        "method": method,
        "bits": BITS["hashing"],
        "epochs": options.epochs,
        "seed": seed,
        "progress": False,
        "device": options.device,
        **parsed_options(options.options),
    }
    means = train.sentences.means()
    if options.backbone is None:
        encoder = kh.train(train.split(), target_vectors=np.concatenate([means, means]), **common)
        return _both_views(encoder, test)
    if options.validation:
        raise SystemExit("--backbone trains on all training photos: leave --validation out")
    data = kh.dataset(options.root)
    encoder = kh.train(data.train, target_vectors=means, backbone=options.backbone, frozen=False, **common)
    return encoder.encode(data.test, floats=True, flip=True)


def _both_views(encoder: kh.HashEncoder, data: Captioned) -> Floats:
    """The mean over a photo and its mirror image, as `encode(flip=True)` gives for pictures."""
    return (encoder.encode(data.plain, floats=True) + encoder.encode(data.mirrored, floats=True)) / 2


def _row(name: str, scores: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Means over the seeds, and the deviation of the headline."""
    row: dict[str, Any] = {"system": name, "seeds": len(scores)}
    row |= {key: round(statistics.fmean(one[key] for one in scores), 4) for key in scores[0]}
    if len(scores) > 1:
        row["deviation of text to image R@10"] = round(
            statistics.stdev(one["text to image R@10"] for one in scores), 4
        )
    return row


def _write(options: argparse.Namespace, name: str, method: str, bits: int, **parts: Any) -> None:
    seeds = {key: parts.pop(key) for key in ("seed", "seeds") if key in parts}
    config = {"method": method, "backbone": options.backbone or f"{BACKBONE}, frozen", "bits": bits}
    config |= {"epochs": options.epochs, "recipe": "modern", **seeds, **parsed_options(options.options)}
    print(write_result("flickr8k", name, packages=("torch",), folder=options.results, config=config, **parts))


def _tell(name: str, scores: Mapping[str, Any]) -> None:
    print(f"{name}: {', '.join(f'{key} {value}' for key, value in scores.items())}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
