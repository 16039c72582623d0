"""Each method against a loop in float64 written from its formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from made_up_classes import Classes

from kinhash.errors import InputError
from kinhash.zeroshot import BZSL, EXEM, ConSE, KinCodes, SynC
from kinhash.zeroshot.conse import conse_scores
from kinhash.zeroshot.inputs import seen
from kinhash.zeroshot.kin import rotation
from kinhash.zeroshot.softmax import Softmax
from kinhash.zeroshot.support_vectors import regress
from kinhash.zeroshot.sync import one_versus_other


def squared(a: np.ndarray, b: np.ndarray) -> float:
    return sum(float(x - y) ** 2 for x, y in zip(a, b, strict=True))


def median_between(vectors: np.ndarray) -> float:
    return float(np.median([squared(a, b) for i, a in enumerate(vectors) for b in vectors[:i]]))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def test_conse(toy: Classes) -> None:
    p = np.random.default_rng(1).dirichlet(np.ones(12), size=6)
    got = conse_scores(p, toy.seen, toy.unseen, top=3)
    model = ConSE(top=3, posterior=True).fit(np.tile(p, (2, 1)), np.arange(12), toy.seen)
    np.testing.assert_array_equal(model.scores(p, toy.unseen), got)
    with pytest.raises(InputError, match="12 probabilities an item do not fit 2 seen classes"):
        ConSE(posterior=True).fit(p, np.arange(6) % 2, toy.seen[:2])
    for b in range(6):
        top = sorted(range(12), key=lambda c, b=b: -p[b, c])[:3]
        mixed = sum(p[b, c] * toy.seen[c] for c in top) / sum(p[b, c] for c in top)
        for u in range(5):
            assert got[b, u] == pytest.approx(cosine(mixed, toy.unseen[u]))


def test_the_softmax_classifier_is_at_its_minimum(toy: Classes) -> None:
    data = seen(toy.features, toy.labels, toy.seen)
    model = Softmax(penalty=0.1, steps=2000).fit(data)
    X = (toy.features - toy.features.mean(0)) / toy.features.std(0)
    p, W = model.predict(toy.features), model.weights
    np.testing.assert_allclose(p.sum(1), 1)
    gradient = sum(np.outer(x, q - (np.arange(12) == y)) for x, q, y in zip(X, p, toy.labels, strict=True))
    np.testing.assert_allclose(gradient / len(X) + 0.1 * W[:-1], 0, atol=1e-6)


def test_sync(toy: Classes) -> None:
    model = SynC(width=0.5, penalty=1e-3, blur=1e-9).fit(toy.features, toy.labels, toy.seen)
    scale, got = 0.5 * median_between(toy.seen), model.scores(toy.others, toy.unseen)
    for u in range(5):
        e = [math.exp(-squared(toy.unseen[u], b) / scale) for b in toy.seen]
        w = sum(value / sum(e) * model.phantoms[r] for r, value in enumerate(e))
        for b in range(0, len(toy.others), 7):
            x = toy.others[b] - toy.features.mean(0)
            assert got[b, u] == pytest.approx(float(w @ x) / math.sqrt(float(x @ x)))
    own = (
        model.shares(toy.seen) @ model.phantoms
    )  # the phantoms give back the classifiers of the seen classes
    X = toy.features - toy.features.mean(0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = one_versus_other(X, seen(toy.features, toy.labels, toy.seen).signs(), 1e-3 * len(X), 100)
    np.testing.assert_allclose(own, w.T, rtol=1e-3, atol=1e-3)


def test_classifiers_of_sync_are_at_their_minimum(toy: Classes) -> None:
    X, signs = toy.features - toy.features.mean(0), seen(toy.features, toy.labels, toy.seen).signs()
    w = one_versus_other(X, signs, 2.0, 3000)
    for c in range(12):
        gradient = 2 * 2.0 * w[:, c]
        for x, y in zip(X, signs[:, c], strict=True):
            gradient = gradient - 2 * max(0.0, 1 - y * float(x @ w[:, c])) * y * x
        np.testing.assert_allclose(gradient, 0, atol=1e-6)


def kernel_problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(15, 3))
    K = np.array([[math.exp(-0.3 * squared(a, b)) for b in A] for a in A])
    return K, np.column_stack([np.sin(A[:, 0]), A[:, 1] * A[:, 2], np.full(15, 2.0), 0.01 * A[:, 0]])


@pytest.mark.parametrize(("cost", "tube"), [(1.0, 0.1), (10.0, 0.01), (0.05, 0.3)])
def test_support_vector_regression_is_at_its_minimum(cost: float, tube: float) -> None:
    """The conditions of Karush, Kuhn and Tucker, item by item."""
    K, targets = kernel_problem()
    b, offsets = regress(K, targets, cost, tube, precision=1e-6)
    for j in range(targets.shape[1]):
        assert abs(b[:, j].sum()) < 1e-9
        for i in range(15):
            residual = targets[i, j] - float(K[i] @ b[:, j]) - offsets[j]
            assert abs(b[i, j]) <= cost + 1e-12
            if b[i, j] == 0:
                assert abs(residual) <= tube + 1e-5
            elif abs(b[i, j]) < cost:
                assert residual == pytest.approx(math.copysign(tube, b[i, j]), abs=1e-5)
            else:
                assert residual * math.copysign(1, b[i, j]) >= tube - 1e-5


@pytest.mark.parametrize(("cost", "tube"), [(1.0, 0.1), (10.0, 0.01)])
def test_support_vector_regression_agrees_with_scikit_learn(cost: float, tube: float) -> None:
    svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
    K, targets = kernel_problem()
    b, offsets = regress(K, targets, cost, tube, precision=1e-6)
    for j in (0, 1):
        model = svm.SVR(kernel="precomputed", C=cost, epsilon=tube, tol=1e-7).fit(K, targets[:, j])
        np.testing.assert_allclose(K @ b[:, j] + offsets[j], model.predict(K), atol=1e-4)


@pytest.mark.parametrize("standardise", [True, False])
def test_exem(standardise: bool, toy: Classes) -> None:
    model = EXEM(4, standardise=standardise).fit(toy.features, toy.labels, toy.seen)
    mean = toy.features.mean(0)
    centred = toy.features - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    points = centred @ model.axes
    np.testing.assert_allclose(np.abs(points), np.abs(centred @ axes[:, ::-1][:, :4]), atol=1e-8)
    exemplars = np.array([points[toy.labels == c].mean(0) for c in range(12)])
    inside = np.sqrt(np.mean((points - exemplars[toy.labels]) ** 2, axis=0)) if standardise else np.ones(4)
    centre, spread = exemplars.mean(0), exemplars.std(0)
    gamma, predicted = 1 / median_between(toy.seen), []
    K = np.array([[math.exp(-gamma * squared(a, b)) for b in toy.seen] for a in toy.seen])
    b, offsets = regress(K, (exemplars - centre) / spread, 1.0, 0.1)
    for a in toy.unseen:
        k = np.array([math.exp(-gamma * squared(a, s)) for s in toy.seen])
        predicted.append((k @ b + offsets) * spread + centre)
    np.testing.assert_allclose(
        model.exemplars(toy.unseen), predicted, atol=5e-3
    )  # the precision of the regression
    got = model.scores(toy.others, toy.unseen)
    for n in range(0, len(toy.others), 6):
        point = (toy.others[n] - mean) @ model.axes
        expected = [-math.sqrt(squared(point / inside, e / inside)) for e in model.exemplars(toy.unseen)]
        np.testing.assert_allclose(got[n], expected, rtol=1e-6)


def test_bzsl(toy: Classes) -> None:
    model = BZSL(10, pull=0.5, ridge=0.3, rounds=4, seed=2).fit(toy.features, toy.labels, toy.seen)
    X, A, y = toy.features - toy.features.mean(0), toy.seen - toy.seen.mean(0), toy.labels
    sign = np.vectorize(lambda value: 1.0 if value >= 0 else -1.0)
    count = [int((y == c).sum()) for c in range(12)]

    def coder(rows: np.ndarray, aims: np.ndarray, shares: list[int]) -> np.ndarray:
        gram = sum(n * np.outer(r, r) for r, n in zip(rows, shares, strict=True))
        side = sum(n * np.outer(r, t) for r, t, n in zip(rows, aims, shares, strict=True))
        return np.linalg.solve(gram + 0.3 * np.trace(gram) / len(gram) * np.eye(len(gram)), side)

    D = sign(A @ np.random.default_rng(2).normal(size=(4, 10)))
    B = D[y]
    for _ in range(4):
        P, Q = coder(X, B, [1] * len(X)), coder(A, D, count)
        B = sign(X @ P + 0.5 * D[y])
        D = sign(A @ Q + 0.5 * np.array([B[y == c].mean(0) for c in range(12)]))
    np.testing.assert_allclose(model.P, coder(X, B, [1] * len(X)), atol=1e-9)
    np.testing.assert_allclose(model.Q, coder(A, D, count), atol=1e-9)
    wanted = (toy.unseen - toy.seen.mean(0)) @ model.Q >= 0
    np.testing.assert_array_equal(model.class_codes(toy.unseen).to_bits(), wanted)


@pytest.mark.parametrize("bits", [6, 32])
def test_kin(bits: int, toy: Classes) -> None:
    model = KinCodes(bits, shrink=0.3, ridge=0.1).fit(toy.features, toy.labels, toy.seen)
    means = np.array([toy.features[toy.labels == c].mean(0) for c in range(12)])
    inside = sum(np.outer(w, w) for w in toy.features - means[toy.labels]) / len(toy.features)
    covariance = 0.7 * inside + 0.3 * np.trace(inside) / 8 * np.eye(8)
    if bits == 32:  # every direction is kept: inner products are those of the whitened features
        np.testing.assert_allclose(model.axes @ model.axes.T, np.linalg.inv(covariance), atol=1e-9)
    z = (means - toy.features.mean(0)) @ model.axes
    gamma = 1 / median_between(toy.seen)
    K = np.array([[math.exp(-gamma * squared(a, b)) for b in toy.seen] for a in toy.seen])
    b = np.linalg.solve(K + 0.1 * np.eye(12), z)
    got = model.scores(toy.others, toy.unseen)
    for u, a in enumerate(toy.unseen):
        e = sum(math.exp(-gamma * squared(a, s)) * row for s, row in zip(toy.seen, b, strict=True))
        for n in range(0, len(toy.others), 8):
            item = (toy.others[n] - toy.features.mean(0)) @ model.axes
            assert got[n, u] == pytest.approx(cosine(item, e))


def test_the_rotation_loses_less_to_signs_than_a_random_one() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 6)) * [5, 3, 1, 1, 1, 1]

    def lost(R: np.ndarray) -> float:
        return float(((np.where(rows @ R >= 0, 1.0, -1.0) - rows @ R) ** 2).sum())

    first = rotation(rows, 6, np.random.default_rng(1), rounds=0)
    found = rotation(rows, 6, np.random.default_rng(1))
    np.testing.assert_allclose(found @ found.T, np.eye(6), atol=1e-9)
    assert lost(found) < lost(first)
    wide = rotation(rows, 20, np.random.default_rng(1))
    np.testing.assert_allclose(wide @ wide.T, np.eye(6), atol=1e-9)
