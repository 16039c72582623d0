"""The annealing kernel keeps its books, never accepts a rise when cold, and finds the best of all codes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kinhash.kernels.annealing import anneal

C, BITS = 5, 3


def cost(
    codes: np.ndarray, wanted: np.ndarray, weights: np.ndarray, most: int, penalty: float, balance: float
) -> float:
    total = 0.0
    for i, j in itertools.combinations(range(len(codes)), 2):
        product = sum(int(a) * int(b) for a, b in zip(codes[i], codes[j], strict=True))
        total += weights[i, j] * (product - wanted[i, j]) ** 2 + penalty * max(0, product - most) ** 2
    return total + balance * sum(float(sum(column)) ** 2 for column in codes.T.astype(int))


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.choice([-1, 1], (C, BITS)).astype(np.int8)
    wanted, weights = rng.uniform(-BITS, BITS, (C, C)), rng.uniform(0.1, 1, (C, C))
    return codes, (wanted + wanted.T) / 2, (weights + weights.T) / 2


def run(
    codes: np.ndarray,
    wanted: np.ndarray,
    weights: np.ndarray,
    steps: int,
    hot: float,
    cold: float,
    most: int = 0,
):
    rng = np.random.default_rng(1)
    products, columns = codes.astype(np.int64) @ codes.T, codes.sum(0, dtype=np.int64)
    sites, chances = rng.integers(0, C * BITS, steps), rng.random(steps)
    anneal(codes, products, wanted, weights, most, 2.0, columns, 0.3, sites, chances, hot, cold)
    return products, columns


@pytest.mark.parametrize("seed", range(3))
def test_products_and_columns_stay_those_of_the_codes(seed: int) -> None:
    codes, wanted, weights = problem(seed)
    before = codes.copy()
    products, columns = run(codes, wanted, weights, 500, 50.0, 5.0)
    assert not np.array_equal(codes, before)
    assert set(np.unique(codes)) == {-1, 1}
    np.testing.assert_array_equal(products, codes.astype(int) @ codes.T)
    np.testing.assert_array_equal(columns, codes.sum(0, dtype=int))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most", [-1, 3])
def test_a_cold_step_is_taken_exactly_when_the_cost_falls(seed: int, most: int) -> None:
    codes, wanted, weights = problem(seed)
    for site in range(C * BITS):
        before = codes.copy()
        flipped = codes.copy()
        flipped[site // BITS, site % BITS] *= -1
        rise = cost(flipped, wanted, weights, most, 2.0, 0.3) - cost(before, wanted, weights, most, 2.0, 0.3)
        products, columns = codes.astype(np.int64) @ codes.T, codes.sum(0, dtype=np.int64)
        chances = np.array([0.5])
        anneal(
            codes, products, wanted, weights, most, 2.0, columns, 0.3, np.array([site]), chances, 1e-9, 1e-9
        )
        np.testing.assert_array_equal(codes, flipped if rise <= 0 else before)


def test_it_finds_the_best_of_all_codes() -> None:
    codes, wanted, weights = problem(0)
    run(codes, wanted, weights, 20_000, 50.0, 0.01)
    every = (np.array(bits).reshape(C, BITS) for bits in itertools.product((-1, 1), repeat=C * BITS))
    best = min(fast_cost(e, wanted, weights) for e in every)
    assert cost(codes, wanted, weights, 0, 2.0, 0.3) == pytest.approx(best)


def fast_cost(codes: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> float:
    products = codes @ codes.T
    each = weights * (products - wanted) ** 2 + 2.0 * np.maximum(0, products) ** 2
    return float(np.triu(each, 1).sum() + 0.3 * (codes.sum(0) ** 2).sum())
