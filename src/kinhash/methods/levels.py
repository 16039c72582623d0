"""Groups of classes at one level of a hierarchy, read off the distances between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def class_groups(distances: ArrayLike, count: int) -> NDArray[np.int64]:
    """(C,) numbers of `count` groups, by average linkage: the two groups with the least mean distance become one.

    Where the distances come from a tree, these are its subtrees. Groups are numbered by their first class.
    """
    D = np.asarray(distances).astype(np.float64)
    D = (D + D.T) / 2
    np.fill_diagonal(D, np.inf)
    sizes = np.ones(len(D))
    groups = np.arange(len(D))
    for _ in range(len(D) - max(1, count)):
        a, b = sorted(int(place) for place in np.unravel_index(np.argmin(D), D.shape))
        mean = (sizes[a] * D[a] + sizes[b] * D[b]) / (sizes[a] + sizes[b])
        D[a], D[:, a] = mean, mean
        D[a, a] = np.inf
        D[b], D[:, b] = np.inf, np.inf
        sizes[a] += sizes[b]
        groups[groups == b] = a
    return np.unique(groups, return_inverse=True)[1]
