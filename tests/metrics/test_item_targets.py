"""Metrics against targets of every item, compared with loops over the whole matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import naive
from scipy.stats import kendalltau

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.evaluation import evaluate
from kinhash.metrics.item_targets import score_item_targets
from kinhash.metrics.ranking import score_ranking


def target_distances(a: np.ndarray, b: np.ndarray, distance: str) -> np.ndarray:
    if distance == "cosine":
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        return (1 - a @ b.T) / 2
    return np.abs(a[:, None] - b[None]).sum(axis=2)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    distance=st.sampled_from(["cosine", "manhattan"]),
    ties=st.sampled_from(["expected", "stable"]),
    formula=st.sampled_from(["corrected", "legacy"]),
    own=st.booleans(),
    binary=st.booleans(),
)
def test_every_query_equals_the_mean_over_all_orders(
    seed: int, distance: str, ties: str, formula: str, own: bool, binary: bool
) -> None:
    rng = np.random.default_rng(seed)
    z, q = rng.integers(-1, 2, (6, 3)) + 0.5, rng.integers(-1, 2, (2, 3)) + 0.5
    targets, query_targets = rng.normal(size=(6, 4)), rng.normal(size=(2, 4))
    if own:
        q, query_targets = z, targets
    D = target_distances(query_targets, targets, distance)
    if distance == "manhattan":
        D = D / D.max()
    k = int(rng.integers(2, 6))
    pack: Any = Codes.from_logits if binary else np.asarray
    scores = score_item_targets(
        pack(q),
        query_targets,
        None if own else pack(z),
        None if own else targets,
        distance=distance,
        k=k,
        ties=ties,
        formula=formula,
    )
    tables = np.abs((np.sign(q) if binary else q)[:, None] - (np.sign(z) if binary else z)[None]).sum(axis=2)
    for i, table in enumerate(tables):
        keep = np.arange(6) != i if own else np.ones(6, bool)
        near, far = table[keep], D[i, keep]
        ranks = near if ties == "expected" else np.argsort(np.argsort(near, kind="stable"))
        similarity = (1 - far).tolist()
        expected = naive.mean_over_orders(ranks.tolist(), lambda o, s=similarity: naive.ahp(o, s, k, formula))
        assert scores.per_query["mahp_target"][i] == pytest.approx(expected, abs=1e-12)
        tau = naive.kendall_tau_b(near.tolist(), far.tolist())
        assert scores.per_query["kendall_tau"][i] == pytest.approx(tau, abs=1e-12, nan_ok=True)


def test_targets_that_are_classes_give_the_class_metric(rng: np.random.Generator) -> None:
    """One-hot targets: distance 0 within a class and the same for all others."""
    labels = rng.integers(0, 5, 300)
    codes = Codes.from_bits(rng.random((300, 16)) < 0.5)
    S = np.where(np.eye(5) > 0, 1.0, 0.5)
    by_class = score_ranking(codes, labels, similarities={"s": S}, k=50)
    by_item = score_item_targets(codes, np.eye(5)[labels], distance="cosine", name="s", k=50)
    np.testing.assert_allclose(by_item.per_query["mahp_s"], by_class.per_query["mahp_s"], atol=1e-12)
    np.testing.assert_allclose(by_item.curves["hp_s"], by_class.curves["hp_s"], atol=1e-12)


def test_mean_tau_of_a_set_agrees_with_scipy(rng: np.random.Generator) -> None:
    z, targets = rng.normal(size=(150, 24)), rng.normal(size=(150, 6))
    codes = Codes.from_logits(z)
    tau = score_item_targets(codes, targets, distance="manhattan", k=2, threads=1).metrics["kendall_tau"]
    H = (codes.to_bits()[:, None] != codes.to_bits()[None]).sum(axis=2)
    D = target_distances(targets, targets, "manhattan")
    others = ~np.eye(150, dtype=bool)
    expected = np.mean([kendalltau(H[i, others[i]], D[i, others[i]]).statistic for i in range(150)])
    assert tau == pytest.approx(expected, abs=1e-12)


def test_bad_targets(rng: np.random.Generator) -> None:
    codes, targets = Codes.from_bits(rng.random((5, 8)) < 0.5), rng.normal(size=(5, 3))
    zero, nan = targets.copy(), targets.copy()
    zero[2], nan[3, 1] = 0, np.nan
    for call, says in (
        (lambda: score_item_targets(codes, targets[:4], k=2), "4 rows for 5 items"),
        (lambda: score_item_targets(codes, zero, k=2, distance="cosine"), "row 2 is all zeros"),
        (lambda: score_item_targets(codes, nan, k=2), "in 1 rows, first in row 3"),
        (
            lambda: score_item_targets(codes, np.ones((5, 3)), k=2),
            "all targets are equal",
        ),
        (lambda: score_item_targets(codes, targets, k=5), "between 2 and 4"),
        (lambda: score_item_targets(codes, targets, codes, k=2), "go together"),
        (lambda: score_item_targets(codes, targets, k=2, distance="l7"), "'cosine', 'manhattan'"),
        (
            lambda: score_item_targets(codes, targets, k=2, name="a b"),
            "letters, digits and underscores.*'a b'",
        ),
        (lambda: evaluate(codes, targets, k=2, semantics={5: "cosine"}), "underscores.* got 5"),  # type: ignore[dict-item]
    ):
        with pytest.raises(InputError, match=says):
            call()
