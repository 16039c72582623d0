"""EXEM (1NNs): the mean feature of an unseen class is predicted from its vector (Changpinyo, Chao & Sha, ICCV 2017)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinhash.zeroshot.inputs import Floats, asked, rbf, seen, squared_distances, typical_scale, unseen
from kinhash.zeroshot.support_vectors import regress


class EXEM:
    """Exemplars `e_c = mean of M (x - m)` over class c, M = the leading principal directions of the features.

    One support vector regression per dimension predicts e from class vectors, kernel `exp(-|a - a'|^2 / (width *
    median))`; the score of class u is minus the distance to its predicted exemplar, every dimension divided by
    its deviation inside classes ("s" for standardised; `standardise=False` is the plain 1NN). The regressed exemplars are
    scaled to deviation 1, so that `cost` and `tube` mean the same in all dimensions; the paper chooses both, and the
    dimensions, on held-out classes.
    """

    def __init__(
        self,
        dimensions: int = 128,
        cost: float = 1.0,
        tube: float = 0.1,
        width: float = 1.0,
        standardise: bool = True,
    ) -> None:
        self.dimensions, self.cost, self.tube = dimensions, cost, tube
        self.width, self.standardise = width, standardise

    def fit(self, features: ArrayLike, labels: ArrayLike, vectors: ArrayLike) -> EXEM:
        """Learn to predict exemplars."""
        data = seen(features, labels, vectors)
        self.vectors, self.mean = data.vectors, data.features.mean(0)
        self.gamma = 1 / (self.width * typical_scale(data.vectors))
        self.axes = principal_axes(data.features - self.mean, self.dimensions)
        points = self._projected(data.features)
        exemplars = data.means(points)
        self.inside = (
            _deviation(points - exemplars[data.labels]) if self.standardise else np.ones(points.shape[1])
        )
        self.centre, self.spread = exemplars.mean(0), _deviation(exemplars - exemplars.mean(0))
        targets = (exemplars - self.centre) / self.spread
        kernel = rbf(data.vectors, data.vectors, self.gamma)
        self.coefficients, self.offsets = regress(kernel, targets, self.cost, self.tube)
        return self

    def exemplars(self, vectors: ArrayLike) -> Floats:
        """(U, k) predicted exemplars."""
        wanted = unseen(vectors, self.vectors.shape[1])
        predicted = rbf(wanted, self.vectors, self.gamma) @ self.coefficients + self.offsets
        return predicted * self.spread + self.centre

    def scores(self, features: ArrayLike, vectors: ArrayLike) -> Floats:
        """(n, U) minus the distances to the predicted exemplars."""
        points = self._projected(asked(features, len(self.mean)))
        return -np.sqrt(squared_distances(points / self.inside, self.exemplars(vectors) / self.inside))

    def _projected(self, features: Floats) -> Floats:
        return (features - self.mean) @ self.axes


def principal_axes(centred: Floats, count: int) -> Floats:
    """(d, at most `count`) directions of largest variance, without those of none."""
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    return axes[:count][lengths[:count] > 1e-9 * lengths[0]].T


def _deviation(centred: Floats) -> Floats:
    spread = np.sqrt(np.square(centred).mean(0))
    return np.where(spread > 1e-12, spread, 1.0)
