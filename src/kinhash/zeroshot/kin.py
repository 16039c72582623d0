"""Kin's class codes: the code of an unseen class is placed among those of the seen ones by what is known of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.arrays import unit_rows
from kinhash.codes import Codes
from kinhash.quantisation import turned_to_signs
from kinhash.zeroshot.bzsl import hamming_scores
from kinhash.zeroshot.inputs import Floats, Seen, asked, rbf, seen, typical_scale, unseen


class KinCodes:
    """`z = R T (x - m)`, class code `e_u = sum_c k(a_u, a_c) b_c`, score `cos(z, e_u)`; codes are the signs of both.

    T whitens what varies inside classes, `((1 - shrink) S_w + shrink mean(S_w) I)^(-1/2)`; R turns the directions in which
    class means differ so that signs lose little (ITQ, Gong & Lazebnik, CVPR 2011), or, with more bits than there are
    directions, spreads them over random orthogonal ones. b solves the kernel ridge regression from class vectors to the
    mean z of the seen classes, `b = (K + ridge I)^-1 e`, `k = exp(-|a - a'|^2 / median)`. `scores` compares
    floats, `hamming` codes.
    """

    def __init__(self, bits: int = 64, shrink: float = 0.8, ridge: float = 0.2, seed: int = 0) -> None:
        self.bits, self.shrink, self.ridge, self.seed = bits, shrink, ridge, seed

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> KinCodes:
        """Learn both sides."""
        data = seen(features, labels, vectors)
        self.vectors, self.mean = data.vectors, data.features.mean(0)
        T = self._whitening(data)
        whitened = (data.features - self.mean) @ T
        directions = np.linalg.svd(data.means(whitened), full_matrices=False)[2][
            : min(self.bits, data.classes - 1)
        ]
        turned = whitened @ directions.T
        R = directions.T @ rotation(turned, self.bits, np.random.default_rng(self.seed))
        self.axes, codes = T @ R, data.means(whitened @ R)
        self.gamma = 1 / typical_scale(data.vectors)
        K = rbf(data.vectors, data.vectors, self.gamma)
        self.coefficients = np.linalg.solve(K + self.ridge * np.eye(len(K)), codes)
        return self

    def scores(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) cosines of floats."""
        z, e = self._items(features), self._classes(vectors)
        return unit_rows(z, "features") @ unit_rows(e, "class codes").T

    def hamming(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) minus the Hamming distances of codes."""
        return hamming_scores(self.codes(features), self.class_codes(vectors))

    def codes(self, features: ArrayLike) -> Codes:
        """The codes of pictures."""
        return Codes.from_logits(self._items(features))

    def class_codes(self, vectors: ArrayLike) -> Codes:
        """The codes of classes, unseen ones included."""
        return Codes.from_logits(self._classes(vectors))

    def _items(self, features: ArrayLike) -> Floats:
        return (asked(features, len(self.mean)) - self.mean) @ self.axes

    def _classes(self, vectors: ArrayLike) -> Floats:
        return rbf(unseen(vectors, self.vectors.shape[1]), self.vectors, self.gamma) @ self.coefficients

    def _whitening(self, data: Seen) -> Floats:
        inside = data.features - data.means(data.features)[data.labels]
        spread = inside.T @ inside / len(inside)
        level = max(float(np.trace(spread)) / len(spread), np.finfo(float).tiny)
        values, axes = np.linalg.eigh((1 - self.shrink) * spread + self.shrink * level * np.eye(len(spread)))
        whitening: Floats = axes / np.sqrt(np.maximum(values, 1e-9 * level))
        return whitening


def rotation(rows: Floats, bits: int, draw: np.random.Generator, rounds: int = 30) -> Floats:
    """(k, bits) with orthonormal rows: for bits == k that of `min_R |sgn(rows R) - rows R|`, else a random one."""
    width = rows.shape[1]
    R: Floats = np.linalg.qr(draw.normal(size=(bits, bits)))[0][:width]
    return R if bits > width else turned_to_signs(rows, R, rounds)
