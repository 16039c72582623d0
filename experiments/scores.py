"""Outputs -> metrics: floats and codes, every similarity, both readings of what the database is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from outputs import Outputs

import kinhash as kh
from kinhash.index.multi_index import candidates_per_query
from kinhash.report import Report

# named without a suffix, since they exist for one of the two representations only
_BARE = (
    "accuracy",
    "balanced_accuracy",
    "unique_codes",
    "largest_bucket",
    "bucket_entropy",
    "mean_nn_hamming_512",
    "bit_balance",
    "bit_correlation",
    "constant_bits",
    "multi_index_candidates",
)


def score(
    outputs: Outputs, semantics: Mapping[str, Any], *, k: int = 250, train_database: bool = True
) -> dict[str, Any]:
    """The parts `protocol`, `metrics`, `curves` and, if wanted, `metrics_train_database` of a result.

    test: every test picture queries the other test pictures. train: they query the training pictures. What is scored,
    codes or floats or both, is what the method retrieves with.
    """
    k = min(k, len(outputs.test_labels) - 1)  # a sample may hold fewer
    own = _reports(outputs, semantics, k=k)
    metrics = _merged(own) | ({"multi_index_candidates_k10": _compared(outputs)} if "bin" in own else {})
    found = {
        "protocol": next(iter(own.values())).protocol | {"database": "test"},
        "metrics": metrics,
        "curves": {
            f"{name}_{kind}": np.round(curve, 5).tolist()
            for kind, report in own.items()
            for name, curve in report.curves.items()
        },
    }
    if train_database:
        other = _merged(_reports(outputs, semantics, k=k, against_train=True))
        found["metrics_train_database"] = {key: value for key, value in other.items() if key not in _BARE}
    return found


def _reports(
    outputs: Outputs, semantics: Mapping[str, Any], *, k: int, against_train: bool = False
) -> dict[str, Report]:
    """One report for codes, one for floats, or the one that there is."""
    found = {}
    kinds = {"codes": ("bin",), "floats": ("float",), "both": ("bin", "float")}
    for kind in kinds[outputs.retrieval.retrieves]:
        database = _represented(outputs.train_z, kind) if against_train else None
        found[kind] = kh.evaluate(
            _represented(outputs.test_z, kind),
            outputs.test_labels,
            semantics=dict(semantics),
            database=database,
            database_labels=outputs.train_labels if against_train else None,
            k=k,
            metric=outputs.retrieval.distance if kind == "float" else None,
            predictions=outputs.test_predictions if len(outputs.test_predictions) else None,
        )
    return found


def _compared(outputs: Outputs, k: int = 10, key: int = 16) -> float:
    """Codes that multi-index hashing compares per query, when test searches train with keys of 16 bits."""
    queries, database = (kh.Codes.from_logits(z) for z in (outputs.test_z, outputs.train_z))
    tables = max(1, round(database.bits / key))
    costs = candidates_per_query(database, queries, min(k, len(database)), tables=tables)
    return round(float(costs.compared.mean()), 3)


def _represented(z: np.ndarray, kind: str) -> Any:
    return kh.Codes.from_logits(z) if kind == "bin" else z


def _merged(reports: Mapping[str, Report]) -> dict[str, float | None]:
    """Metrics of both under one roof: `mahp_wup_bin`, `mahp_wup_float`, `unique_codes`."""
    found: dict[str, float | None] = {}
    for kind, report in reports.items():
        for key, value in report.metrics.items():
            name = key if key in _BARE else f"{key}_{kind}"
            found[name] = None if np.isnan(value) else round(float(value), 6)
    return found
