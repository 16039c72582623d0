"""What the trained encoder makes of the test part, for metrics.json."""

from __future__ import annotations

from typing import Any

from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.evaluation import evaluate
from kinhash.meaning.semantics import Semantics
from kinhash.models.encoder import HashEncoder
from kinhash.training.recipes import Recipe

_K = 250


def check_test(test: Split | None, split: Split) -> None:
    """Refuse now what could not be evaluated after the training."""
    if test is None:
        return
    if test.labels is None or len(test) < 3:
        raise InputError("the test split needs labels and at least three rows to be evaluated")
    if test.classes != split.classes:
        raise InputError(
            "the test split must list the same classes, in the same order, as the training split"
        )


def measured(
    encoder: HashEncoder, test: Split | None, semantics: Semantics | None, recipe: Recipe
) -> dict[str, Any]:
    """Protocol and metrics of `test` against itself, by what the method retrieves with; nothing without semantics."""
    if test is None or semantics is None or test.labels is None:
        return {}
    flip = recipe.flip_average and encoder.takes == "pictures"
    encoded = encoder.encode_all(test, flip=flip)
    labels = test.labels[encoded.positions]
    report = evaluate(
        encoded,
        labels,
        semantics=semantics,
        k=min(_K, len(labels) - 1),
        predictions=encoder.predict(test, flip=flip).argmax(1) if encoder.network.classifier else None,
        name="test",
    ).to_dict()
    return {"protocol": report["protocol"], "metrics": report["metrics"]}
