"""The protocol `class-code`: no picture of an unseen class is known; it is placed by its text or by the hierarchy.

Every method has as many settings to choose from (`GRIDS`), and they are chosen on seen classes that a network of its own
has not seen either: the mean of flat hit@1, 2 and 5 over the folds decides.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zeroshot_data import SOURCES, Floats
from zeroshot_outputs import UNSEEN, PartOutputs

from kinhash.metrics.classification import flat_hit, hierarchical_hit
from kinhash.zeroshot import BZSL, EXEM, KinCodes, SynC
from kinhash.zeroshot.conse import conse_scores
from kinhash.zeroshot.inputs import seen
from kinhash.zeroshot.softmax import Softmax

CUTOFFS = (1, 2, 5, 10, 20)
BITS = 64
_DECIDE = (1, 2, 5)
_BLOCK = 4096  # pictures whose scores are held at a time
Vectors = tuple[Floats, Floats]  # of the seen and of the unseen classes
Settings = dict[str, Any]

GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "conse": {"penalty": (0.01, 0.1, 1.0), "top": (3, 5, 10, 1000)},
    "sync": {"penalty": (1e-4, 1e-3, 1e-2), "width": (0.03, 0.1, 0.3, 1.0)},
    "exem": {"dimensions": (64, 256), "cost": (1.0, 10.0), "width": (0.3, 1.0, 3.0)},
    "bzsl": {"pull": (0.1, 1.0, 10.0), "ridge": (0.1, 1.0, 10.0, 100.0)},
    "kin": {"shrink": (0.2, 0.5, 0.8, 0.95), "ridge": (0.05, 0.2, 0.8)},
}
# rows of the table: the two that compare codes say how long they are
ROWS = {"conse": "conse", "sync": "sync", "exem": "exem", "bzsl": f"bzsl, {BITS} bits"}
ROWS |= {"kin": "kin", "kin-codes": f"kin, {BITS} bits"}


@dataclass(frozen=True)
class Problem:
    """Pictures of seen classes to fit on, pictures of unseen ones to name."""

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    asked: NDArray[np.float32]
    truth: NDArray[np.int64]


def problem_of(outputs: PartOutputs, fit: str) -> Problem:
    """`fit` names the pictures of seen classes: train, val, or all. Every picture of an unseen class asks."""
    parts = ("train", "val") if fit == "all" else (fit,)

    def both(of: Mapping[str, NDArray[Any]], names: Sequence[str]) -> NDArray[Any]:
        return np.concatenate([of[name] for name in names])

    return Problem(
        both(outputs.features, parts),
        both(outputs.labels, parts),
        both(outputs.features, UNSEEN),
        both(outputs.labels, UNSEEN),
    )


def options_of(row: str) -> list[Settings]:
    """All settings of a row of the table."""
    grid = GRIDS[row.removesuffix("-codes")]
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def scored(row: str, settings: Settings, problem: Problem, vectors: Vectors, kept: dict[Any, Any]) -> Floats:
    """(n, U) scores of the unseen classes; `kept` holds what several settings share."""
    known, wanted = vectors
    if row == "conse":
        return conse_scores(
            _posterior(settings["penalty"], problem, known, kept), known, wanted, settings["top"]
        )
    make: Callable[..., Any] = {"sync": SynC, "exem": EXEM, "bzsl": BZSL, "kin": KinCodes}[
        row.removesuffix("-codes")
    ]
    own = {"bits": BITS} if row in ("bzsl", "kin", "kin-codes") else {}
    model = make(**own, **settings).fit(problem.features, problem.labels, known)
    score = model.hamming if row == "kin-codes" else model.scores
    return np.concatenate([score(problem.asked[i : i + _BLOCK], wanted) for i in _blocks(problem)])


def chosen(
    folds: Sequence[Problem], vectors: Sequence[Mapping[str, Vectors]], rows: Sequence[str] = tuple(ROWS)
) -> dict[str, dict[str, dict[str, Any]]]:
    """Source -> row -> the best settings, and the value that they reach on the folds."""
    kept: list[dict[Any, Any]] = [{} for _ in folds]
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for source, row in itertools.product(SOURCES, rows):
        values = []
        for settings in options_of(row):
            each = [
                _criterion(scored(row, settings, fold, known[source], held), fold.truth)
                for fold, known, held in zip(folds, vectors, kept, strict=True)
            ]
            values.append((statistics.fmean(each), settings))
        value, best = max(values, key=lambda pair: pair[0])
        found.setdefault(source, {})[row] = {"settings": best, "on the folds": round(value, 4)}
        print(f"{source:<9} {row:<9} {value:.4f} {best}", flush=True)
    return found


def measured(
    problem: Problem,
    vectors: Mapping[str, Vectors],
    choices: Mapping[str, Mapping[str, Mapping[str, Any]]],
    similarity: Floats,
) -> list[dict[str, Any]]:
    """A row for every source and method: flat hit@K and hierarchical precision@K over the unseen classes."""
    kept: dict[Any, Any] = {}
    found = []
    for source, rows in choices.items():
        for row, choice in rows.items():
            scores = scored(row, choice["settings"], problem, vectors[source], kept)
            values = {f"hit@{k}": flat_hit(scores, problem.truth, k).mean() for k in cutoffs(scores.shape[1])}
            values |= {
                f"hp@{k}": hierarchical_hit(scores, problem.truth, similarity, k).mean()
                for k in cutoffs(scores.shape[1])
            }
            told = {key: round(float(value), 6) for key, value in values.items()}
            found.append({"classes by": source, "method": ROWS[row], **told, "settings": choice["settings"]})
    return found


def cutoffs(available: int) -> list[int]:
    """Those of the paper, as far as there are so many classes or pictures."""
    return [k for k in CUTOFFS if k <= available]


def _criterion(scores: Floats, truth: NDArray[np.int64]) -> float:
    depths = [k for k in _DECIDE if k <= scores.shape[1]]
    return statistics.fmean(float(flat_hit(scores, truth, k).mean()) for k in depths)


def _posterior(penalty: float, problem: Problem, known: Floats, kept: dict[Any, Any]) -> Floats:
    """Probabilities of the seen classes, which do not depend on their vectors."""
    if penalty not in kept:
        classifier = Softmax(penalty).fit(seen(problem.features, problem.labels, known))
        asked = problem.asked.astype(np.float64)
        kept[penalty] = np.concatenate([classifier.predict(asked[i : i + _BLOCK]) for i in _blocks(problem)])
    found: Floats = kept[penalty]
    return found


def _blocks(problem: Problem) -> Iterator[int]:
    yield from range(0, len(problem.asked), _BLOCK)
