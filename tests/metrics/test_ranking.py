"""Every metric of a ranking against plain loops and the mean over all orders of ties, in both code paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import naive
from sklearn.metrics import average_precision_score

from kinhash.codes import Codes
from kinhash.metrics.ranking import score_ranking

BITS = 4  # few bits: many ties


def hamming(a: Codes, b: Codes) -> np.ndarray:
    return (a.to_bits()[:, None, :] != b.to_bits()[None, :, :]).sum(axis=2).astype(float)


def similarity_matrix(rng: np.random.Generator, classes: int) -> np.ndarray:
    half = rng.random((classes, classes))
    matrix = (half + half.T) / 2
    np.fill_diagonal(matrix, 1)
    return matrix


def oracle(
    distances: np.ndarray, relevant: np.ndarray, similarity: np.ndarray, k: int, formula: str, radius: int
) -> dict[str, float]:
    """All metrics of one query as means over all orders of its ties."""
    d, r, s = distances.tolist(), relevant.tolist(), similarity.tolist()
    nan = float("nan")
    scores = {
        "mahp_s": naive.mean_over_orders(d, lambda o: naive.ahp(o, s, k, formula)),
        "curve": naive.mean_over_orders(d, lambda o: naive.hierarchical_precisions(o, s, k)[-1]),
        "precision_within_radius": naive.precision_within(d, r, radius),
        "map_full": nan,
    }
    if not any(r):
        return (
            scores
            | dict.fromkeys(
                [
                    "map_at_k_found",
                    "map_at_k_relevant",
                    "precision_at_k",
                    "recall_at_k",
                    "hit_at_1",
                    "hit_at_2",
                ],
                nan,
            )
            | {"precision_within_radius": nan}
        )
    return scores | {
        "map_full": naive.mean_over_orders(d, lambda o: naive.ap_full(o, r)),
        "map_at_k_found": naive.mean_over_orders(d, lambda o: naive.ap_at_k_found(o, r, k)),
        "map_at_k_relevant": naive.mean_over_orders(d, lambda o: naive.ap_at_k_relevant(o, r, k)),
        "precision_at_k": naive.mean_over_orders(d, lambda o: naive.found_at(o, r, k) / k),
        "recall_at_k": naive.mean_over_orders(d, lambda o: naive.found_at(o, r, k) / sum(r)),
        "hit_at_1": naive.mean_over_orders(d, lambda o: naive.found_at(o, r, 1) > 0),
        "hit_at_2": naive.mean_over_orders(d, lambda o: naive.found_at(o, r, 2) > 0),
    }


def compare_with_oracle(
    queries: Any,
    labels: np.ndarray,
    database: Any,
    items: np.ndarray,
    tables: np.ndarray,
    S: np.ndarray,
    **options: Any,
) -> None:
    """`tables` are the distances of all queries to all items, computed by the test itself."""
    own = database is None
    k, formula = options["k"], options.get("formula", "corrected")
    radius = {"radius": 1} if isinstance(queries, Codes) else {}
    scores = score_ranking(
        queries,
        labels,
        database,
        None if own else items,
        similarities={"s": S},
        hits=(1, 2),
        **radius,
        **options,
    )
    heights = []
    for q, distances in enumerate(tables):
        keep = np.arange(len(items)) != q if own else np.ones(len(items), bool)
        if options.get("ties") == "stable":
            ranks = np.empty(len(items))
            ranks[np.argsort(distances, kind="stable")] = np.arange(len(items))
        else:
            ranks = distances
        expected = oracle(ranks[keep], items[keep] == labels[q], S[labels[q], items[keep]], k, formula, 1)
        if options.get("ties") == "stable" and any(items[keep] == labels[q]):
            relevant = (items[keep] == labels[q]).tolist()
            expected["precision_within_radius"] = naive.precision_within(
                distances[keep].tolist(), relevant, 1
            )
        heights.append(expected.pop("curve"))
        for key, value in expected.items():
            if key in scores.per_query:
                assert scores.per_query[key][q] == pytest.approx(value, abs=1e-12, nan_ok=True), (q, key)
    assert scores.metrics["hp_at_k_s"] == pytest.approx(np.mean(heights), abs=1e-12)
    assert scores.metrics["hp_at_k_s"] == scores.curves["hp_s"][-1]
    assert len(scores.curves["hp_s"]) == k


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(3, 6),
    formula=st.sampled_from(["corrected", "legacy"]),
    ties=st.sampled_from(["expected", "stable"]),
    own=st.booleans(),
)
def test_codes_equal_the_mean_over_all_orders(seed: int, n: int, formula: str, ties: str, own: bool) -> None:
    rng = np.random.default_rng(seed)
    S = similarity_matrix(rng, 3)
    codes = Codes.from_bits(rng.random((n, BITS)) < rng.choice([0.1, 0.5]))
    labels = rng.integers(0, 3, n)
    queries = codes if own else Codes.from_bits(rng.random((2, BITS)) < 0.5)
    query_labels = labels if own else rng.integers(0, 3, 2)
    k = int(rng.integers(2, n + (0 if own else 1)))
    compare_with_oracle(
        queries,
        query_labels,
        None if own else codes,
        labels,
        hamming(queries, codes),
        S,
        k=k,
        formula=formula,
        ties=ties,
    )


DISTANCES = {
    "l1": lambda a, b: np.abs(a[:, None] - b[None]).sum(axis=2),
    "l2": lambda a, b: ((a[:, None] - b[None]) ** 2).sum(axis=2),
    "dot": lambda a, b: -(a @ b.T),
}


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(sorted(DISTANCES)),
    ties=st.sampled_from(["expected", "stable"]),
    full=st.booleans(),
    own=st.booleans(),
    single=st.booleans(),
)
def test_vectors_equal_the_mean_over_all_orders(
    seed: int, metric: str, ties: str, full: bool, own: bool, single: bool
) -> None:
    rng = np.random.default_rng(seed)
    S = similarity_matrix(rng, 3)
    kind = np.float32 if single else np.float64
    vectors = rng.integers(-1, 2, (6, 2)).astype(kind)  # small whole numbers: ties, and exact arithmetic
    labels = rng.integers(0, 3, 6)
    queries = vectors if own else rng.integers(-1, 2, (3, 2)).astype(kind)
    query_labels = labels if own else rng.integers(0, 3, 3)
    compare_with_oracle(
        queries,
        query_labels,
        None if own else vectors,
        labels,
        DISTANCES[metric](queries.astype(float), vectors.astype(float)),
        S,
        k=int(rng.integers(2, 6)),
        ties=ties,
        metric=metric,
        full=full,
    )


def test_codes_and_their_signs_as_vectors_score_alike(rng: np.random.Generator) -> None:
    """Histogram and sort are two ways to one number, on 300 codes of many lengths, more than one word included."""
    for bits in (7, 16, 64, 65, 130):
        codes = Codes.from_bits(rng.random((300, bits)) < 0.5)
        labels = rng.integers(0, 9, 300)
        S = similarity_matrix(rng, 9)
        options: dict[str, Any] = {"similarities": {"s": S}, "k": 40, "hits": (1, 5)}
        ours = score_ranking(codes, labels, **options)
        for metric in ("l1", "l2", "dot"):
            theirs = score_ranking(codes.to_signs(), labels, metric=metric, **options)
            for key, values in ours.per_query.items():
                np.testing.assert_allclose(values, theirs.per_query[key], atol=1e-12, err_msg=key)
            np.testing.assert_allclose(ours.curves["hp_s"], theirs.curves["hp_s"], atol=1e-12)


def test_average_precision_agrees_with_scikit_learn(rng: np.random.Generator) -> None:
    z = rng.normal(size=(200, 8))
    labels = rng.integers(0, 5, 200)
    ap = score_ranking(z, labels, k=1, metric="l2").per_query["map_full"]
    for q in range(200):
        others = np.arange(200) != q
        distances = ((z[q] - z[others]) ** 2).sum(axis=1)
        assert ap[q] == pytest.approx(average_precision_score(labels[others] == labels[q], -distances))


def test_the_number_of_threads_changes_nothing(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.random((500, 32)) < 0.5)
    labels = rng.integers(0, 9, 500)
    S = similarity_matrix(rng, 9)
    one, many = (score_ranking(codes, labels, similarities=S, k=50, threads=t) for t in (1, 5))
    np.testing.assert_array_equal(one.curves["hp_similarity"], many.curves["hp_similarity"])
    assert one.metrics == many.metrics


@pytest.mark.parametrize("formula", ["corrected", "legacy"])
def test_a_perfect_ranking_scores_what_it_must(formula: str, rng: np.random.Generator) -> None:
    """(K - 1) / K corrected; legacy falls short by (1 + s_K / S*_K) / 2K only."""
    K, classes = 250, 4
    labels = np.repeat(np.arange(classes), 300)
    codes = Codes.from_bits(np.eye(classes)[labels])
    scores = score_ranking(codes, labels, similarities={"s": np.eye(classes)}, k=K, formula=formula)
    value = (K - 1) / K if formula == "corrected" else 1 - (1 + 1 / K) / (2 * K)
    assert scores.metrics["mahp_s"] == pytest.approx(value, abs=1e-12)
    assert scores.metrics["map_full"] == pytest.approx(1)
    assert scores.metrics["map_at_k_found"] == pytest.approx(1)
    assert scores.metrics["precision_at_k"] == pytest.approx(1)
    np.testing.assert_allclose(scores.curves["hp_s"], 1)


def test_queries_without_an_answer_are_counted_not_scored(rng: np.random.Generator) -> None:
    labels = np.array([0, 0, 1, 7])  # 1 and 7 stand alone
    codes = Codes.from_bits(rng.random((4, 8)) < 0.5)
    scores = score_ranking(codes, labels, k=3, hits=(1,))
    assert scores.without_relevant == 2
    for values in scores.per_query.values():
        np.testing.assert_array_equal(np.isnan(values), [False, False, True, True])
    assert scores.metrics["recall_at_k"] == 1.0
    nobody = score_ranking(codes, np.arange(4), similarities={"s": np.eye(4)}, k=2)
    assert nobody.without_relevant == 4
    assert np.isnan(list(nobody.metrics.values())).all()


def test_labels_may_be_any_whole_numbers(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.random((30, 8)) < 0.5)
    labels = rng.integers(0, 4, 30)
    plain = score_ranking(codes, labels, k=5).metrics
    assert score_ranking(codes, labels * 10**12 - 7, k=5).metrics == plain


def test_one_word_and_two_all_equal_and_all_different(rng: np.random.Generator) -> None:
    labels = rng.integers(0, 2, 50)
    same = Codes.from_bits(np.ones((50, 3)))
    scores = score_ranking(same, labels, k=10)
    share = [
        (np.sum(labels == c) - 1) / 49 for c in labels
    ]  # every order is as likely: precision is the share
    np.testing.assert_allclose(scores.per_query["precision_at_k"], share)
    np.testing.assert_allclose(scores.per_query["recall_at_k"], 10 / 49)
