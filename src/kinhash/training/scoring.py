"""What the trained encoder makes of the test part, for metrics.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinhash.codes import Codes
from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.evaluation import evaluate
from kinhash.feeding.sentences import Sentences
from kinhash.meaning.semantics import Semantics
from kinhash.metrics.matching import own_recall
from kinhash.models.asking import sentence_encoder, vector_floats
from kinhash.models.encoder import HashEncoder
from kinhash.training.recipes import Recipe

_K = 250
_RECALL = (1, 5, 10)


def check_test(test: Split | None, split: Split, *, by_captions: bool = False) -> None:
    """Refuse now what could not be evaluated after the training."""
    if test is None:
        return
    if by_captions:
        if test.captions is None or len(test) < 3:
            raise InputError("the test split needs captions and at least three rows to be evaluated")
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
    """Protocol and metrics of `test` against itself, by what the method retrieves with; nothing without semantics.

    Where captions take the place of semantics: against their meaning, and whether they find their pictures.
    """
    if test is not None and semantics is None and encoder.understands_text:
        return _by_captions(encoder, test, recipe)
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


def _by_captions(encoder: HashEncoder, test: Split, recipe: Recipe) -> dict[str, Any]:
    encoded = encoder.encode_all(test, flip=recipe.flip_average and encoder.takes == "pictures")
    sentences = Sentences.of(test.captions, sentence_encoder(encoder)).take(encoded.positions)
    k = min(_K, len(sentences) - 1)
    meaning: dict[str, Any] = {"sentences": "manhattan"}
    report = evaluate(encoded, sentences.means(), semantics=meaning, k=k, name="test").to_dict()
    asked = Codes.from_logits(vector_floats(encoder, sentences.vectors))
    ks = [k for k in _RECALL if k <= len(sentences)]
    found = own_recall(asked, encoded.codes, sentences.rows(), np.arange(len(sentences)), ks=ks)
    recall = {f"text_to_image_recall_at_{k}": float(values.mean()) for k, values in found.items()}
    return {"protocol": report["protocol"], "metrics": report["metrics"] | recall}
