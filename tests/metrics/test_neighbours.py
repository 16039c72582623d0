"""Recall of float neighbours against sets and all orders of ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import naive

from kinhash.codes import Codes
from kinhash.errors import InputError
from kinhash.metrics.neighbours import neighbour_recall


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), depth=st.integers(1, 4), own=st.booleans())
def test_it_is_the_mean_over_all_orders(seed: int, k: int, depth: int, own: bool) -> None:
    rng = np.random.default_rng(seed)
    z = rng.integers(-1, 2, (6, 3)) + 0.5
    q = z if own else rng.integers(-1, 2, (2, 3)) + 0.5
    codes, queries = Codes.from_logits(z), Codes.from_logits(q)
    ours = neighbour_recall(
        q, queries, None if own else z, None if own else codes, k=k, depth=depth, metric="l1", threads=1
    )
    for i in range(len(q)):
        keep = np.arange(6) != i if own else np.ones(6, bool)
        far = np.abs(q[i] - z[keep]).sum(axis=1)
        wanted = set(np.flatnonzero(far <= np.sort(far)[k - 1]))
        hamming = (queries.to_bits()[i] != codes.to_bits()[keep]).sum(axis=1)
        expected = naive.mean_over_orders(
            hamming.tolist(), lambda o, w=wanted: len(w & set(o[:depth])) / min(depth, len(w))
        )
        assert ours[i] == pytest.approx(expected)


def test_codes_that_keep_the_order_find_everything(rng: np.random.Generator) -> None:
    codes = Codes.from_bits(rng.random((200, 32)) < 0.5)
    np.testing.assert_allclose(neighbour_recall(codes.to_signs(), codes, k=10, depth=60), 1)


def test_bad_input(rng: np.random.Generator) -> None:
    z = rng.normal(size=(5, 8))
    codes = Codes.from_logits(z)
    for call, says in (
        (lambda: neighbour_recall(z, codes[:4], k=2), "every vector needs its code"),
        (lambda: neighbour_recall(z, codes, k=5), "between 1 and 4"),
        (lambda: neighbour_recall(z, codes, k=2, depth=5), "depth is 5"),
        (lambda: neighbour_recall(z, codes, z, None, k=2), "go together"),
        (lambda: neighbour_recall(codes, codes, k=2), "got Codes and Codes"),  # type: ignore[arg-type]
        (lambda: neighbour_recall(z, z, k=2), "got ndarray and ndarray"),  # type: ignore[arg-type]
        (lambda: neighbour_recall(z * np.inf, codes, k=2), "row 0"),
    ):
        with pytest.raises(InputError, match=says):
            call()
