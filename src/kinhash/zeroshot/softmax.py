"""A linear classifier with probabilities: multinomial logistic regression on standardised features."""

from __future__ import annotations

import numpy as np

from kinhash.zeroshot.inputs import Floats, Seen


class Softmax:
    """`p = softmax((x - m) / s W + b)`, fitted by `min mean_n -log p_n[y_n] + penalty/2 |W|^2`.

    Accelerated gradient steps (Nesterov 1983) of length 1/L, L = |X|^2 / (2 n) + penalty bounding the curvature.
    """

    def __init__(self, penalty: float = 0.1, steps: int = 300) -> None:
        self.penalty, self.steps = penalty, steps

    def fit(self, data: Seen) -> Softmax:
        """Learn to tell the seen classes."""
        self.mean = data.features.mean(0)
        spread = data.features.std(0)
        self.spread = np.where(spread > 0, spread, 1.0)
        X = self._inputs(data.features)
        Y = (data.signs() + 1) / 2
        slope = 1 / (
            np.linalg.norm(X.T @ X if X.shape[1] < len(X) else X @ X.T, 2) / (2 * len(X)) + self.penalty
        )
        W = ahead = np.zeros((X.shape[1], data.classes))
        t = 1.0
        for _ in range(self.steps):
            gradient = X.T @ (softmax(X @ ahead) - Y) / len(X)
            gradient[:-1] += self.penalty * ahead[:-1]
            new, further = ahead - slope * gradient, (1 + np.sqrt(1 + 4 * t * t)) / 2
            ahead, W, t = new + (t - 1) / further * (new - W), new, further
        self.weights = W
        return self

    def predict(self, features: Floats) -> Floats:
        """(n, S) probabilities of the seen classes."""
        return softmax(self._inputs(features) @ self.weights)

    def _inputs(self, features: Floats) -> Floats:
        X = (features - self.mean) / self.spread
        return np.hstack([X, np.ones((len(X), 1))])


def softmax(logits: Floats) -> Floats:
    """Rows that sum to 1."""
    e = np.exp(logits - logits.max(1, keepdims=True))
    shares: Floats = e / e.sum(1, keepdims=True)
    return shares
