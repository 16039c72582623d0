"""Tiles of distances between vectors against NumPy, and ties that survive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kinhash.kernels.distances import l1_tile, negative_dot_tile, squared_l2_tile


@pytest.mark.parametrize("n", [0, 1, 1023, 1025, 2100])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("tile", "oracle"),
    [
        (l1_tile, lambda a, b: cdist(a, b, "cityblock")),
        (squared_l2_tile, lambda a, b: cdist(a, b, "sqeuclidean")),
        (negative_dot_tile, lambda a, b: -(a @ b.T)),
    ],
)
def test_tiles(
    n: int, kind: type, tile: Callable[..., None], oracle: Callable[..., np.ndarray], rng: np.random.Generator
) -> None:
    queries, items = rng.normal(size=(3, 9)).astype(kind), rng.normal(size=(n, 9)).astype(kind)
    out = np.full((3, n), np.nan)
    tile(queries, np.ascontiguousarray(items.T), out)
    np.testing.assert_allclose(
        out, oracle(queries.astype(float), items.astype(float)), rtol=1e-12, atol=1e-12
    )


def test_equal_vectors_have_equal_distances_wherever_they_stand(rng: np.random.Generator) -> None:
    items = np.repeat(rng.normal(size=(1, 37)), 1500, axis=0)
    for tile in (l1_tile, squared_l2_tile, negative_dot_tile):
        out = np.empty((1, 1500))
        tile(rng.normal(size=(1, 37)), np.ascontiguousarray(items.T), out)
        assert np.unique(out).size == 1
