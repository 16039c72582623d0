"""Kendall's tau-b against scipy and against counting pairs; Spearman's rho against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import naive
from scipy.stats import kendalltau, spearmanr

from kinhash.errors import InputError
from kinhash.metrics.correlation import kendall_tau, spearman_interval, spearman_rho


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from([-2.0, 0.0, 0.5, 1.0, np.inf]), st.floats(-4, 4)), min_size=2, max_size=25
    )
)
def test_it_counts_pairs(pairs: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in pairs], [np.round(b) for _, b in pairs]
    with np.errstate(invalid="ignore"):  # inf - inf in the oracle
        x_finite = [9.0 if a == np.inf else a for a in x]
    assert kendall_tau(x, y) == pytest.approx(naive.kendall_tau_b(x_finite, y), nan_ok=True, abs=1e-12)
    assert kendall_tau(y, x) == pytest.approx(kendall_tau(x, y), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 255, 256, 257, 20_000])
@pytest.mark.parametrize("levels", [2, 65, 0])
def test_it_agrees_with_scipy(n: int, levels: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if levels:
        x, y = np.round(x * levels / 4), np.round(y * levels / 4)
    assert kendall_tau(x, y) == pytest.approx(kendalltau(x, y).statistic, nan_ok=True, abs=1e-12)


def test_a_constant_row_orders_nothing() -> None:
    assert np.isnan(kendall_tau([1, 1, 1], [1, 2, 3]))
    assert kendall_tau([1, 2, 3], [10, 20, 30]) == 1
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1


@pytest.mark.parametrize("first", [2**60, -(2**60), 2**63 + 5])
def test_whole_numbers_beyond_those_of_float64_keep_their_order(first: int) -> None:
    x = [first + step for step in (0, 1, 2, 2)]  # float64 holds them as one number
    assert kendall_tau(x, [1, 2, 3, 3]) == kendall_tau([1, 2, 3, 3], x) == 1
    assert kendall_tau(x, [3, 2, 1, 1]) == -1


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([1, 2], [1, 2, 3], "2 values and y 3"),
        ([], [], "0 values"),
        ([1], [1], "1 values"),
        ([1, np.nan], [1, 2], r"x\[1\] is NaN, .*; leave this pair out"),
        ([[1, 2]], [1, 2], "row of numbers"),
        (["a", "b"], [1, 2], "row of numbers"),
    ],
)
def test_bad_rows(x: list[float], y: list[float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        kendall_tau(x, y)


@pytest.mark.parametrize("n", [2, 3, 257, 5000])
@pytest.mark.parametrize("levels", [2, 65, 0])
def test_spearman_agrees_with_scipy(n: int, levels: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if levels:
        x, y = np.round(x * levels / 4), np.round(y * levels / 4)
    if min(len(np.unique(x)), len(np.unique(y))) > 1:  # scipy warns of others
        assert spearman_rho(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert spearman_rho(np.exp(x), y) == pytest.approx(spearman_rho(x, y), nan_ok=True, abs=1e-12)


def test_spearman_of_what_orders_nothing_or_is_no_pair() -> None:
    assert np.isnan(spearman_rho([1, 1, 1], [1, 2, 3]))
    assert spearman_rho([1, 2, 3], [9, 8, 7]) == -1
    with pytest.raises(InputError, match="they must be pairs"):
        spearman_rho([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="NaN"):
        spearman_rho([1, 2], [1, np.nan])


def test_the_interval_is_that_of_plain_resampling(rng: np.random.Generator) -> None:
    x = np.round(2 * rng.normal(size=200))
    y = np.round(2 * (x + 2 * rng.normal(size=200)))
    low, high = spearman_interval(x, y)
    samples = rng.integers(200, size=(500, 200))
    plain = np.quantile([spearmanr(x[rows], y[rows]).statistic for rows in samples], [0.025, 0.975])
    assert low < spearman_rho(x, y) < high
    assert [low, high] == pytest.approx(plain, abs=0.03)
    assert spearman_interval(x, y) == (low, high)
    narrow = spearman_interval(x, y, share=0.5)
    assert low < narrow[0] < narrow[1] < high
