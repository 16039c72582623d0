"""The protocol `retrieval`: labelled pictures of unseen classes are searched by other pictures of these classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from zeroshot_codes import cutoffs
from zeroshot_outputs import PartOutputs

import kinhash as kh

_DEPTH = 250  # of mAHP


def retrieval(outputs: PartOutputs, semantics: kh.Semantics) -> dict[str, Any]:
    """The parts `protocol` and `metrics`: hit@K is the chance that one of the K nearest is of the query's class."""
    database, queries = (outputs.z[part] for part in ("database", "queries"))
    metrics: dict[str, float | None] = {}
    protocol: dict[str, Any] = {}
    for kind in ("float", "bin"):
        own, theirs = (kh.Codes.from_logits(z) if kind == "bin" else z for z in (queries, database))
        report = kh.evaluate(
            own,
            outputs.labels["queries"],
            semantics={"wup": semantics},
            database=theirs,
            database_labels=outputs.labels["database"],
            k=min(_DEPTH, len(database)),
            hits=cutoffs(len(database)),
        )
        metrics |= {
            f"{name}_{kind}": None if np.isnan(value) else round(float(value), 6)
            for name, value in report.metrics.items()
        }
        protocol = report.protocol
    said = {
        "mode": "retrieval",
        "database": "training part of the unseen classes",
        "queries": "their validation part",
    }
    kept = ("n_queries", "n_database", "exclude_query", "k", "ties", "formula", "similarity")
    return {"protocol": said | {key: protocol[key] for key in kept}, "metrics": metrics}
