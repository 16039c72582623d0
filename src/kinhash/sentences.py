"""`kinhash.semantics` in full: what `meaning` knows by itself, and sentences, which need an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from kinhash.errors import InputError, require
from kinhash.meaning import face
from kinhash.meaning.glosses import class_texts
from kinhash.meaning.semantics import Semantics
from kinhash.meaning.taxonomy import Taxonomy

_SPEC = "sentences"


def semantics(
    spec: str | Taxonomy | ArrayLike,
    classes: str | Sequence[str] | Mapping[str, str] | int | None = None,
    *,
    measure: str | None = None,
    variant: str | None = None,
    table: str | Path | Mapping[str, str] | None = None,
    metric: str | None = None,
    scale: float | None = None,
) -> Semantics:
    """Distances in [0, 1] between classes.

    `spec` is one of

    * ``"wordnet"``: WordNet 3.0 nouns. `classes` are words with one meaning, synsets ("cat.n.01") or ids
      ("n02121620"); `table` (a csv file, a bundled table, or a mapping) says what names mean. `measure`: "wup"
      (default) or "lcs".
    * ``"sentences"``: between embeddings of the sentences that describe the classes, by the text encoder "minilm";
      ``"sentences:ENCODER"`` takes another, see `text_encoder`. `classes` are ids, synsets, a bundled table, or names
      in `table`, which stand for their glosses in WordNet; texts, such as captions, which stand for themselves; or a
      mapping of classes to texts. `metric`, `scale` as for embeddings.
    * ``"tree:FILE"`` with lines `parent child`, ``"tree:cifar100"``, or a `Taxonomy`: `classes` are nodes (default: the
      leaves); `table` maps names to nodes. `measure`: "lcs" (default) or "wup".
    * ``"labels"``: 0 between a class and itself, 1 between any two.
    * a (C, C) matrix of distances; or embeddings (C, D), with `metric="manhattan"` or `"cosine"` and maybe `scale`.

    `classes` is a sequence of names, or "cifar100", "ilsvrc2012", "imagenet21k", "tiny-imagenet"; for labels, a
    matrix and embeddings also a number. `variant` is "symmetric" (default), "nltk" or "barz": see `meaning.hierarchy`.
    """
    if isinstance(spec, str) and spec.partition(":")[0] == _SPEC:
        face.allowed({"measure": measure, "variant": variant}, spec, ("table", "metric", "scale"))
        return _between_sentences(spec, classes, table, metric or "manhattan", scale)
    if isinstance(classes, Mapping):
        raise InputError("a mapping of classes to texts is for 'sentences'; pass the names alone")
    return face.semantics(
        spec, classes, measure=measure, variant=variant, table=table, metric=metric, scale=scale
    )


def _between_sentences(
    spec: str,
    classes: str | Sequence[str] | Mapping[str, str] | int | None,
    table: str | Path | Mapping[str, str] | None,
    metric: str,
    scale: float | None,
) -> Semantics:
    require("torch", "text")
    from kinhash.models.text import DEFAULT, text_encoder

    if classes is None or isinstance(classes, int):
        raise InputError(
            f"{spec!r} needs classes: names, texts, a mapping of names to texts, or a bundled table"
        )
    described = class_texts(classes, table)
    encoder = text_encoder(spec.partition(":")[2] or DEFAULT)
    vectors = encoder.encode(list(described.values()))
    made = face.semantics(vectors, list(described), metric=metric, scale=scale)
    return Semantics(f"sentences {encoder.name} {metric}", made.distance, made.classes)
