"""BZSL: pictures and classes meet as codes of two linear coders (Shen et al., IEEE TIP 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.codes import Codes
from kinhash.zeroshot.inputs import Floats, asked, seen, unseen


class BZSL:
    """Codes `sgn(P x)` of pictures and `sgn(Q a)` of classes that correlate: `max sum_n sgn(P x_n) . sgn(Q a_{y_n})`.

    Auxiliary codes B of pictures and D of classes stand in for the signs:
    `min |B - X P|^2 + ridge |P|^2 + n_c-weighted |D - A Q|^2 + ridge |Q|^2 + 2 pull sum_n (L - B_n . D_{y_n})`. Each update
    has a closed form: P and Q are ridge regressions, `B = sgn(X P + pull D_y)`, `D = sgn(A Q + pull mean_{n in c} B_n)`. D
    starts as random hyperplanes of the class vectors, so that bits differ. Pull, ridge (times the mean eigenvalue) and
    this start are our choices; the paper keeps bits apart by orthogonality, which more bits than classes cannot have.
    """

    def __init__(
        self, bits: int = 64, pull: float = 1.0, ridge: float = 1.0, rounds: int = 20, seed: int = 0
    ) -> None:
        self.bits, self.pull, self.ridge, self.rounds, self.seed = bits, pull, ridge, rounds, seed

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> BZSL:
        """Learn both coders."""
        data = seen(features, labels, vectors)
        self.mean, self.centre = data.features.mean(0), data.vectors.mean(0)
        X, A, share = data.features - self.mean, data.vectors - self.centre, data.counts()
        to_p = ridge_solver(X, np.ones(len(X)), self.ridge)
        to_q = ridge_solver(A, share, self.ridge)
        D = _signs(A @ np.random.default_rng(self.seed).normal(size=(A.shape[1], self.bits)))
        B = D[data.labels]
        for _ in range(self.rounds):
            self.P, self.Q = to_p @ B, to_q @ D
            before = B
            B = _signs(X @ self.P + self.pull * D[data.labels])
            D = _signs(A @ self.Q + self.pull * data.means(B))
            if np.array_equal(B, before):
                break
        self.P, self.Q = to_p @ B, to_q @ D
        return self

    def codes(self, features: ArrayLike) -> Codes:
        """The codes of pictures."""
        return Codes.from_logits((asked(features, len(self.mean)) - self.mean) @ self.P)

    def class_codes(self, vectors: ArrayLike) -> Codes:
        """The codes of classes, unseen ones included."""
        return Codes.from_logits((unseen(vectors, len(self.centre)) - self.centre) @ self.Q)

    def scores(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) minus the Hamming distances."""
        return hamming_scores(self.codes(features), self.class_codes(vectors))


def hamming_scores(codes: Codes, classes: Codes) -> Floats:
    """(n, U) minus the Hamming distances between codes of pictures and of classes."""
    same = codes.to_signs() @ classes.to_signs().T  # as float32 exact
    return (same.astype(np.float64) - codes.bits) / 2


def ridge_solver(rows: Floats, weights: Floats, ridge: float) -> Floats:
    """(d, n) that turns targets into `argmin_P sum_n w_n |t_n - x_n P|^2 + ridge * mean eigenvalue * |P|^2`."""
    weighted = rows * weights[:, None]
    gram = rows.T @ weighted
    return np.linalg.solve(gram + ridge * np.trace(gram) / len(gram) * np.eye(len(gram)), weighted.T)


def _signs(values: Floats) -> Floats:
    return np.where(values >= 0, 1.0, -1.0)
