"""The demo, step by step; what a person reads goes through `say`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kinhash.comparison import compare
from kinhash.data.datasets import dataset
from kinhash.data.splits import Dataset
from kinhash.demo import anchor, pictures, searches
from kinhash.demo.folder import MARK, fresh_folder
from kinhash.demo.needs import check_needs
from kinhash.demo.pictures import Learned
from kinhash.meaning.face import semantics
from kinhash.meaning.semantics import Semantics
from kinhash.models.features import extract_features
from kinhash.plots import plot_curves

Say = Callable[[str], None]
_BATCH = 16  # what passes between the layers then stays in the cache: twice as fast as 64


@dataclass(frozen=True)
class Outcome:
    """What the demo measured."""

    known: dict[int, float]  # bits -> mAHP@250 (LCS) of codes of true classes
    margins: dict[str, tuple[float, float]]  # metric -> (trained, random hyperplanes)
    seconds: dict[str, float]  # of each step


class _Steps:
    """Announces steps and keeps how long each took."""

    def __init__(self, say: Say, count: int) -> None:
        self.say, self.count = say, count
        self.seconds: dict[str, float] = {}
        self._name, self._start = "", time.perf_counter()

    def begin(self, name: str, what: str) -> None:
        self.end()
        self._name, self._start = name, time.perf_counter()
        self.say(f"\n[{len(self.seconds) + 1}/{self.count}] {what}")

    def end(self) -> None:
        if self._name:
            self.seconds[self._name] = time.perf_counter() - self._start
            self.say(f"      {self.seconds[self._name]:.1f} s")
            self._name = ""


def run_demo(
    out: Path, *, bits: int = 64, seed: int = 0, progress: bool = True, say: Say = lambda line: None
) -> Outcome:
    """Sample pictures -> features -> trained head -> codes -> evaluation -> index -> searches, all into the folder `out`."""
    check_needs()
    fresh_folder(out)
    steps = _Steps(say, 5)
    data = dataset("cifar100-sample")
    steps.begin(
        "anchor", "A figure known in advance, so that you can trust the others: codes of true classes"
    )
    tree = semantics("tree:cifar100", data.classes)
    known = _anchor(tree, say)
    steps.begin(
        "features", f"Features of {len(data.train):,} + {len(data.test):,} pictures by a pretrained network"
    )
    kin = {"wup": semantics("wordnet", data.classes), "lcs": tree}
    net = pictures.backbone()
    train, test = (
        extract_features(net, split, batch=_BATCH, progress=progress) for split in (data.train, data.test)
    )
    steps.begin(
        "training", f"A hash head of {bits} bits: SIM-KL-CLASS, meaning from WordNet, training pictures only"
    )
    learned = pictures.learn(data, (train, test), net, kin, bits=bits, seed=seed, progress=progress)
    steps.begin("evaluation", f"Codes of the {len(data.test):,} held-out pictures, each searching the others")
    _evaluation(learned, out, say)
    steps.begin("searches", "An index of their codes, and three searches of pictures that it does not hold")
    _searches(learned, data, tree, out, say)
    steps.end()
    outcome = Outcome(known, learned.margins(), steps.seconds)
    (out / MARK).write_text(json.dumps({"bits": bits, "seed": seed, **outcome.__dict__}, indent=1) + "\n")
    for line in _next(out):
        say(line)
    return outcome


def _anchor(tree: Semantics, say: Say) -> dict[int, float]:
    found = anchor.anchors(tree)
    say("      random hyperplanes of class embeddings, mAHP@250 (LCS):")
    for bits, value in found.items():
        verdict = "agrees" if abs(value - anchor.KNOWN[bits]) < anchor.TOLERANCE else "DISAGREES"
        say(f"      {bits:>4} bits  {value:.4f}, known {anchor.KNOWN[bits]:.3f}: {verdict}")
    return found


def _evaluation(learned: Learned, out: Path, say: Say) -> None:
    learned.codes.save(out / "codes")
    learned.encoder.save(out / "encoder")
    reports = [learned.plain, learned.trained]
    learned.trained.save(out / "report.json")
    (out / "report.md").write_text(compare(reports).to_markdown() + "\n" + learned.trained.to_markdown())
    plot_curves([learned.floats, *reversed(reports)], out / "curves.png", similarity="wup")
    for metric, (trained, plain) in learned.margins().items():
        say(
            f"      {learned.trained.title(metric):<20} {trained:.4f} trained, {plain:.4f} random hyperplanes of the "
            f"same features: {trained - plain:+.4f}"
        )
    say(
        f"      lost by cutting floats to bits, mAHP@250: {learned.floats['mahp_wup'] - learned.trained['mahp_wup']:.4f}"
    )


def _searches(learned: Learned, data: Dataset, tree: Semantics, out: Path, say: Say) -> None:
    found = searches.search_examples(out / "pictures.kin", data.test, learned.codes)
    searches.picture_of(found, data.test, tree).save(out / "searches.png", optimize=True)
    for line in searches.sentences(found, data.test):
        say(f"      {line}")


def _next(out: Path) -> list[str]:
    return [
        f"\nLook at, in {out}/:",
        "  searches.png   the three searches; frames from green (same class) to red (unrelated in the class tree)",
        "  curves.png     hierarchical precision at k: trained floats, trained codes, random hyperplanes",
        "  report.md      every metric, and the protocol that gives it its meaning",
        "  encoder/       kh.load_encoder(...).encode('your-picture.jpg') gives its code",
        "  pictures.kin/  kh.Index.open(...).search(codes, k=10) finds its kin",
        "CIFAR-100 is for research; README.md has the same way in ten lines of Python.",
    ]
