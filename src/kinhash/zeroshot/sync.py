"""SynC: classifiers of unseen classes are mixed from phantom ones (Changpinyo, Chao, Gong & Sha, CVPR 2016)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.zeroshot.inputs import Floats, asked, seen, squared_distances, typical_scale, unseen
from kinhash.zeroshot.softmax import softmax


class SynC:
    """`w_c = sum_r s_cr v_r`, `s_c = softmax_r(-|a_c - b_r|^2 / sigma^2)`, score `w_u . x`.

    The phantom classes b are the seen ones, as in the paper's experiments. `min sum_c sum_n max(0, 1 - y_nc w_c . x_n)^2
    + penalty sum_c |w_c|^2` over the v then is one problem for each w_c, since s is invertible, and v solves `s v = w`
    (ridge `blur`, where it nearly is not). sigma^2 is `width` times the median squared distance of seen classes; the paper
    chooses it, and the penalty (here times n d), on held-out classes. Features are centred and of unit length.
    """

    def __init__(
        self, width: float = 0.3, penalty: float = 1e-3, blur: float = 1e-2, steps: int = 100
    ) -> None:
        self.width, self.penalty, self.blur, self.steps = width, penalty, blur, steps

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> SynC:
        """Learn the phantom classifiers."""
        data = seen(features, labels, vectors)
        self.vectors, self.mean = data.vectors, data.features.mean(0)
        self.scale = self.width * typical_scale(data.vectors)
        X = self._inputs(data.features)
        w = one_versus_other(X, data.signs(), self.penalty * len(X), self.steps)
        s = self.shares(data.vectors)
        self.phantoms = np.linalg.solve(s.T @ s + self.blur * np.eye(len(s)), s.T @ w.T)
        return self

    def scores(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) values of the synthesised classifiers."""
        X = self._inputs(asked(features, len(self.mean)))
        return X @ (self.shares(unseen(vectors, self.vectors.shape[1])) @ self.phantoms).T

    def shares(self, vectors: Floats) -> Floats:
        """(C, R) how much of every phantom classifier a class holds."""
        return softmax(-squared_distances(vectors, self.vectors) / self.scale)

    def _inputs(self, features: Floats) -> Floats:
        X = features - self.mean
        unit: Floats = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
        return unit


def one_versus_other(X: Floats, signs: Floats, penalty: float, steps: int) -> Floats:
    """(d, C) of `min_w sum_n max(0, 1 - y_n w . x_n)^2 + penalty |w|^2` for every column of signs.

    The loss lies below `(w . x_n - t_n)^2`, `t_n = y_n max(1, y_n w . x_n)`, and touches it at the present w: every
    step is a ridge regression to new targets with the same matrix, extrapolated as Nesterov does.
    """
    solver = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T)
    w = ahead = np.zeros((X.shape[1], signs.shape[1]))
    for step in range(steps):
        reached = signs * (X @ ahead)
        new = solver @ (signs * np.maximum(1.0, reached))
        ahead, w = new + step / (step + 3) * (new - w), new
    return w
