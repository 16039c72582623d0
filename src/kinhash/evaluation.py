"""`evaluate`: one call from codes and what they stand for to a `Report`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array, is_whole
from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.meaning.semantics import Semantics
from kinhash.metrics.bit_statistics import bit_statistics
from kinhash.metrics.classification import accuracy, balanced_accuracy
from kinhash.metrics.inputs import checked_key, checked_label_range, checked_labels, renumbered
from kinhash.metrics.item_targets import TARGET_DISTANCES, score_item_targets
from kinhash.metrics.ranking import RankingScores, score_ranking
from kinhash.report import Report

_HITS = (1, 2, 5, 10, 20)  # those up to k are the default


class Retrievable(Protocol):
    """What an encoder made, `kinhash.models.Encoded`: it knows how its method searches."""

    @property
    def representation(self) -> Codes | NDArray[np.float32]: ...
    @property
    def metric(self) -> str: ...


def evaluate(
    codes_or_vectors: Codes | Retrievable | ArrayLike,
    labels: ArrayLike,
    *,
    semantics: Semantics | Mapping[str, Semantics] | str | None = None,
    database: Codes | Retrievable | ArrayLike | None = None,
    database_labels: ArrayLike | None = None,
    k: int = 250,
    ties: str = "expected",
    formula: str = "corrected",
    metric: str | None = None,
    radius: int = 2,
    hits: Sequence[int] | None = None,
    predictions: ArrayLike | None = None,
    name: str = "",
    threads: int | None = None,
) -> Report:
    """Rank a database by distance to every query and report how well meaning is kept.

    `codes_or_vectors`: Codes, ranked by Hamming distance, or vectors (n, d), ranked by `metric` ("l1", the default, "l2",
    "dot"), or what `encode_all` gives: then codes or floats with the metric of the encoder's method.
    `labels`: a class number for every item, with `semantics` the `Semantics` of the classes or several by name, as in
    {"wup": ..., "lcs": ...}; or a target vector for every item (captions), with `semantics` "manhattan" (default) or
    "cosine". Without a `database` every item is a query against all others. `ties`: "expected", the mean over all
    orders of equal distances, or "stable". `formula` of AHP: "corrected" or "legacy". `hits`: cutoffs of hit@K (default
    1, 2, 5, 10 and 20, as far as k reaches). `predictions`: predicted class numbers of the queries, for accuracies.
    """
    if not isinstance(name, str):
        raise InputError(f"the name of a report is text, got {name!r}")
    queries, own_metric = _representation(codes_or_vectors)
    items, _ = _representation(database)
    metric = own_metric if metric is None else metric
    options: dict[str, Any] = {"k": k, "ties": ties, "formula": formula, "metric": metric, "threads": threads}
    targets = as_array(labels, "labels")
    binary = isinstance(queries, Codes)
    if targets.ndim == 2:
        _refuse_class_options(hits=hits, predictions=predictions)
        scores, names = _against_targets(queries, targets, semantics, items, database_labels, options)
    else:
        named = _named(semantics)
        own, theirs, tables = _of_used_classes(labels, database_labels, named)
        options["hits"] = _default_hits(k) if hits is None else hits
        options["radius"] = radius if binary else None
        scores = score_ranking(queries, own, items, theirs, similarities=tables, **options)
        names = {key: one.name for key, one in named.items()}
    metrics = dict(scores.metrics)
    if predictions is not None:
        guessed = checked_labels(predictions, len(targets), "predictions")
        metrics |= {
            "accuracy": accuracy(guessed, targets),
            "balanced_accuracy": balanced_accuracy(guessed, targets),
        }
    if isinstance(queries, Codes):
        metrics |= _of_bits(queries)
    protocol = scores.protocol | {
        "representation": "bin" if binary else "float",
        "bits": queries.bits if isinstance(queries, Codes) else np.shape(queries)[1],
        "radius": radius if binary and targets.ndim == 1 else None,
        "similarity": names,
        "without_relevant": scores.without_relevant,
        "labels_crc32": _fingerprint(targets, database_labels),
    }
    return Report(
        name or ("codes" if binary else "vectors"), protocol, metrics, scores.curves, scores.per_query
    )


def _representation(things: Any) -> tuple[Any, str]:
    """Codes or vectors, and the metric of vectors unless the caller wants another."""
    if hasattr(things, "representation"):
        return things.representation, things.metric
    return things, "l1"


def _fingerprint(labels: NDArray[Any], database_labels: ArrayLike | None) -> str:
    """CRC-32 of what was asked: reports that differ in it cannot be paired query by query."""
    crc = 0
    for values in (labels, database_labels):
        if values is not None:
            array = as_array(values, "labels")
            kind = np.int64 if array.ndim == 1 else np.float64
            crc = zlib.crc32(np.ascontiguousarray(array, dtype=kind).tobytes(), crc)
    return f"{crc:08x}"


def _default_hits(k: int) -> list[int]:
    return [hit for hit in _HITS if is_whole(k) and hit <= k]


def _of_bits(codes: Codes) -> dict[str, float]:
    """The bit statistics that exist for this set (some need 512 codes, or bits that vary)."""
    found = bit_statistics(codes).as_dict()
    return {
        key: float(value) for key, value in found.items() if value is not None and key not in ("n", "bits")
    }


def _named(semantics: Any) -> dict[str, Semantics]:
    """Semantics by the name that ends their keys; one alone is called `sim`."""
    if semantics is None:
        return {}
    named = dict(semantics) if isinstance(semantics, Mapping) else {"sim": semantics}
    for key, one in named.items():
        if not isinstance(one, Semantics):
            raise InputError(
                f"semantics {key!r} must be Semantics, got {type(one).__name__}; kinhash.semantics(...) makes one of "
                "a matrix, a tree, WordNet or embeddings"
            )
        checked_key(key)
    sizes = {key: len(one) for key, one in named.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"the semantics have different numbers of classes: {sizes}")
    return named


def _of_used_classes(
    labels: ArrayLike, database_labels: ArrayLike | None, named: dict[str, Semantics]
) -> tuple[ArrayLike, ArrayLike | None, dict[str, NDArray[np.float64]]]:
    """Labels renumbered over the classes that occur, and the similarities of those alone."""
    if not named:
        return labels, database_labels, {}
    classes = len(next(iter(named.values())))
    own = _class_numbers(labels, "labels", classes)
    items = own if database_labels is None else _class_numbers(database_labels, "database_labels", classes)
    used, own, items = renumbered(own, items)
    if not len(used):
        return labels, database_labels, {}
    tables = {key: one.take(used).similarity for key, one in named.items()}
    return own, None if database_labels is None else items, tables


def _class_numbers(values: ArrayLike, what: str, classes: int) -> NDArray[np.int64]:
    labels = checked_labels(values, len(np.atleast_1d(as_array(values, what))), what)
    checked_label_range(labels, classes, what)
    return labels


def _against_targets(
    queries: Codes | ArrayLike,
    targets: NDArray[Any],
    semantics: Any,
    database: Codes | ArrayLike | None,
    database_targets: ArrayLike | None,
    options: dict[str, Any],
) -> tuple[RankingScores, dict[str, str]]:
    """Scores against target vectors; their distance may be named, as in {"bert": "cosine"}."""
    semantics = "manhattan" if semantics is None else semantics
    named = dict(semantics) if isinstance(semantics, Mapping) else {"target": semantics}
    if len(named) != 1 or not any(isinstance(d, str) and d in TARGET_DISTANCES for d in named.values()):
        raise InputError(
            f"labels of shape {targets.shape} are target vectors; their semantics is one of "
            f"{', '.join(map(repr, TARGET_DISTANCES))}, not {semantics!r}. For classes, pass one number per item"
        )
    [(key, distance)] = named.items()
    scores = score_item_targets(
        queries, targets, database, database_targets, distance=distance, name=key, **options
    )
    return scores, {key: f"{distance} distance of target vectors"}


def _refuse_class_options(**given: object) -> None:
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} needs classes, but the labels are target vectors")
