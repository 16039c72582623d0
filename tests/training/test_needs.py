"""What a method cannot do without is asked for in one sentence that names what would work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from training import toy

from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.meaning.face import semantics

LABELS = semantics("labels", toy.CLASSES)
WORDS = np.random.default_rng(0).normal(size=(8, 5))


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (
            "center",
            {"bits": 32},
            "center retrieves with floats and makes no codes: ask for encode(..., floats=True), or train a method that "
            "makes codes, such as 'sim-kl-class' (`kinhash methods` lists them); leave bits=32 out",
        ),
        (
            "hierarchical",
            {"semantics": LABELS},
            "hierarchical needs classes in groups, and 'labels' counts every two of them as equally different: pass "
            "kh.semantics('wordnet', data.classes) or 'tree:FILE', or choose a method without groups ('csq', 'class')",
        ),
        (
            "lcorr",
            {"bits": None, "semantics": None},
            "lcorr learns how far apart classes are: pass semantics=kh.semantics('wordnet', data.classes), or choose a "
            "method that needs labels alone ('csq', 'class')",
        ),
        (
            "devise",
            {"bits": None, "semantics": None},
            "devise learns vectors of classes: pass class_vectors (word vectors, say), or semantics=kh.semantics(...), "
            "of which they are made",
        ),
        ("devise", {"bits": None, "class_vectors": WORDS[:7]}, "8 classes need as many class_vectors, got 7"),
        (
            "center",
            {"bits": None, "center_weight": "heavy"},
            "the parameter center_weight of center takes a float, got 'heavy'",
        ),
        ("itq", {"turns": True}, "the parameter turns of itq takes a int, got True"),
        ("class", {"center_weight": 0.1}, "there is no training option 'center_weight'"),
        ("usdh", {}, "usdh works on given features: pass embeddings, a pretrained backbone such as"),
    ],
)
def test_messages(method: str, options: dict[str, Any], message: str) -> None:
    split = toy.pictures() if method == "usdh" else toy.vectors(64)
    if method == "usdh":
        options = {"backbone": "resnet8w", "batch": 16}
    with pytest.raises(InputError) as caught:
        toy.run(split, method=method, **options)
    assert str(caught.value).startswith(message)


def test_labels_alone_are_enough_for_methods_that_need_no_more() -> None:
    encoder = toy.run(method="class", semantics=None)
    assert encoder.semantics is None
    assert (encoder.predict(toy.vectors()).argmax(1) == toy.vectors().labels).mean() > 0.2


def test_no_labels_are_needed_by_methods_that_have_no_use_for_them() -> None:
    rows = Split(vectors=toy.vectors().vectors)
    assert toy.run(rows, method="spreading", semantics=None).classes == ()
    with pytest.raises(InputError, match="the split has no labels"):
        toy.run(rows, method="center", bits=None, semantics=None)


def test_given_vectors_of_classes_are_learned() -> None:
    encoder = toy.run(method="devise", bits=None, class_vectors=WORDS, epochs=12, lr=0.01)
    assert encoder.width == 5
    near = (
        encoder.encode(toy.vectors(seed=1), floats=True)
        @ (WORDS / np.linalg.norm(WORDS, axis=1, keepdims=True)).T
    )
    assert (near.argmax(1) == toy.vectors(seed=1).labels).mean() > 0.8
    assert isinstance(encoder.training_card["class_vectors_crc32"], int)
