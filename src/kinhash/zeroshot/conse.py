"""ConSE: a picture is the mean of the class vectors it resembles (Norouzi et al., ICLR 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.arrays import finite_rows, unit_rows
from kinhash.errors import InputError
from kinhash.zeroshot.inputs import Floats, asked, seen, unseen
from kinhash.zeroshot.softmax import Softmax


class ConSE:
    """`f(x) = sum_{t<=T} p(c_t | x) s(c_t) / sum_{t<=T} p(c_t | x)`, score `cos(f(x), s(u))`.

    c_1, ..., c_T are the T seen classes of highest probability, s the class vectors. The classifier is a softmax on the
    features; with `posterior=True` the features already are the probabilities of the seen classes.
    """

    def __init__(self, top: int = 10, penalty: float = 0.1, posterior: bool = False) -> None:
        self.top, self.penalty, self.posterior = top, penalty, posterior

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> ConSE:
        """Learn to tell the seen classes."""
        data = seen(features, labels, vectors)
        if self.posterior and data.features.shape[1] != data.classes:
            raise InputError(
                f"{data.features.shape[1]} probabilities an item do not fit {data.classes} seen classes; without "
                "posterior=True features of any width do"
            )
        self.vectors, self.width = data.vectors, data.features.shape[1]
        self.classifier = None if self.posterior else Softmax(self.penalty).fit(data)
        return self

    def scores(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) cosines with the vectors of unseen classes."""
        rows, wanted = asked(features, self.width), unseen(vectors, self.vectors.shape[1])
        probabilities = rows if self.classifier is None else self.classifier.predict(rows)
        return conse_scores(probabilities, self.vectors, wanted, self.top)


def conse_scores(probabilities: ArrayLike, known: Floats, wanted: Floats, top: int = 10) -> Floats:
    """The same from the probabilities (n, S) of any classifier."""
    p = finite_rows(probabilities, "probabilities")
    rank = np.argsort(np.argsort(-p, axis=1, kind="stable"), axis=1, kind="stable")
    kept = np.where(rank < top, p, 0.0)
    mixed = kept / kept.sum(1, keepdims=True) @ known
    return unit_rows(mixed, "mixed class vectors") @ unit_rows(wanted, "class vectors").T
