"""What is to be learned, by which method, from what: checked before anything is computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows, is_whole
from kinhash.data.splits import Split
from kinhash.errors import InputError, UnknownClassError
from kinhash.feeding.sentences import EncodesTexts, Sentences
from kinhash.meaning.semantics import Semantics
from kinhash.methods import Method, find_method
from kinhash.models.retrieval import no_codes
from kinhash.training.needs import check_needs
from kinhash.training.sentences import WITH_TEXT, sentences_for

DEFAULT_BITS = 64
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Task:
    """The caller's wishes in the form that the rest of a training reads."""

    name: str  # of the method
    method: Method
    split: Split
    semantics: Semantics | None  # with the classes of the split, in its order
    target_vectors: Rows | None  # (n, D)
    class_vectors: Rows | None  # (C, D)
    sentences: Sentences | None  # where a text head is trained
    bits: int  # 0: the method makes no codes
    seed: int
    parameters: Mapping[str, Any]  # of the method
    overrides: Mapping[str, Any]  # of the recipe

    @property
    def classes(self) -> int:
        return 0 if self.split.labels is None else len(self.split.classes)

    def of_rows(self, rows: NDArray[np.int64]) -> Task:
        """What belongs to the samples, in another order: features bring some rows twice."""
        vectors = None if self.target_vectors is None else self.target_vectors[rows]
        sentences = None if self.sentences is None else self.sentences.take(rows)
        return dataclasses.replace(self, target_vectors=vectors, sentences=sentences)


def task_for(
    split: Split,
    semantics: Semantics | None,
    method: str | None,
    bits: int | None,
    seed: int,
    target_vectors: ArrayLike | None,
    class_vectors: ArrayLike | None,
    text: str | EncodesTexts | None,
    overrides: Mapping[str, Any],
) -> Task:
    """Refuses what nothing can be learned from, and what the method cannot do."""
    name = method or ("sim-kl-reg" if semantics is None else "sim-kl-class")
    chosen = find_method(name)
    sentences = sentences_for(split, text, chosen, name)
    if sentences is not None and semantics is None and target_vectors is None:
        target_vectors = sentences.means()
    if not isinstance(split, Split):
        raise InputError(f"train takes a split, such as data.train; got {type(split).__name__}")
    targets = _rows(target_vectors, "target_vectors", len(split), "rows")
    if semantics is not None or "labels" in chosen.needs or (targets is None and chosen.needs - {"features"}):
        split.targets()  # its errors say what is missing
    of_classes = _rows(class_vectors, "class_vectors", len(split.classes), "classes")
    check_needs(name, chosen, semantics, targets=targets is not None, vectors=of_classes is not None)
    bits = _checked_bits(bits, chosen, name)
    own, rest = chosen.split_options(name, overrides)
    wanted = {**chosen.recipe, **({} if sentences is None else WITH_TEXT), **rest}
    known = _aligned(semantics, split)
    return Task(name, chosen, split, known, targets, of_classes, sentences, bits, seed, own, wanted)


def _aligned(semantics: Semantics | None, split: Split) -> Semantics | None:
    """The semantics with exactly the classes of the split, in its order."""
    if semantics is None:
        return None
    if not isinstance(semantics, Semantics):
        raise InputError(
            "semantics is what kh.semantics(...) gives, e.g. kh.semantics('wordnet', data.classes); "
            f"got {type(semantics).__name__}"
        )
    missing = sorted(set(split.classes) - set(semantics.classes))
    if missing:
        raise UnknownClassError(
            f"{semantics.name} knows nothing about {len(missing)} of the {len(split.classes)} classes of the data, "
            f"{missing[0]!r} for example; make the semantics from the data's own classes: kh.semantics(..., data.classes)"
        )
    return semantics.take(list(split.classes))


def _rows(values: ArrayLike | None, name: str, count: int, what: str) -> Rows | None:
    if values is None:
        return None
    rows = finite_rows(values, name, np.float32)
    if len(rows) != count:
        raise InputError(f"{count} {what} need as many {name}, got {len(rows)}")
    return rows


def _checked_bits(bits: int | None, method: Method, name: str) -> int:
    """A code length, 64 by default; 0 for a method that makes no codes, and must not be asked for any."""
    if method.retrieves == "floats":
        if bits is not None:
            raise InputError(f"{no_codes(name)}; leave bits={bits} out")
        return 0
    if bits is None:
        return DEFAULT_BITS
    if not is_whole(bits) or not 1 <= bits <= 4096:
        raise InputError(f"bits is a whole number from 1 to 4096 (16 to 256 are usual), got {bits!r}")
    return int(bits)
