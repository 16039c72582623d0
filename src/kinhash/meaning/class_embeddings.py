"""Class embeddings whose inner products are the similarities of the classes (Barz & Denzler, WACV 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import as_array, is_whole
from kinhash.errors import InputError

Floats = NDArray[np.float64]


def class_embeddings(similarity: ArrayLike, dimensions: int | None = None) -> Floats:
    """(C, D) rows with `E E^T = S`: exactly with D = C, nearly with fewer `dimensions`.

    Exact: the Cholesky factor of S; its rows have unit length because S is 1 on the diagonal. S must be positive
    definite, which LCS height on a tree is and Wu-Palmer often is not. Low-dimensional: the leading eigenvectors,
    each times the root of its eigenvalue, which is the best approximation of its rank.
    """
    S = _checked(similarity)
    if dimensions is None:
        return _cholesky(S)
    if not is_whole(dimensions) or not 1 <= dimensions <= len(S):
        raise InputError(f"dimensions must be 1 to {len(S)}, the number of classes; got {dimensions!r}")
    values, vectors = np.linalg.eigh(S)
    values, vectors = values[::-1][:dimensions], vectors[:, ::-1][:, :dimensions]
    usable = int(np.count_nonzero(values > 1e-12 * values[0]))
    if usable < dimensions:
        raise InputError(
            f"only {usable} eigenvalues of the similarity are positive, so there are no {dimensions} dimensions; "
            f"pass dimensions={usable} or fewer"
        )
    # eigh leaves the sign open; the largest entry of every column is made positive
    signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(dimensions)])
    embeddings: Floats = vectors * (signs * np.sqrt(values))
    return embeddings


def similarity_of(distances: ArrayLike) -> Floats:
    """1 - distances, made symmetric, 1 on the diagonal: what `class_embeddings` takes."""
    D = as_array(distances, "the distances").astype(np.float64)
    S: Floats = 1 - (D + D.T) / 2
    np.fill_diagonal(S, 1.0)
    return S


def usable_dimensions(similarity: Floats) -> int:
    """Eigenvalues that are no rounding beside the largest: a similarity that is not positive definite has fewer than C."""
    values = np.linalg.eigvalsh(similarity)
    return int((values > 1e-6 * values[-1]).sum())


def _cholesky(S: Floats) -> Floats:
    try:
        factor: Floats = np.linalg.cholesky(S).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        lowest = float(np.linalg.eigvalsh(S)[0])
        close = S - 2 * np.eye(len(S))
        i, j = (int(place) for place in np.unravel_index(np.argmax(close), S.shape))
        reason = (
            f"classes {i} and {j} have similarity 1"
            if S[i, j] >= 1
            else f"its lowest eigenvalue is {lowest:.2g}"
        )
        raise InputError(
            f"the similarity is not positive definite ({reason}), so no embeddings reproduce it exactly; "
            "pass dimensions=... for the nearest ones, or use a tree (measure='lcs')"
        ) from None
    return factor


def _checked(similarity: ArrayLike) -> Floats:
    S = as_array(similarity, "the similarity")
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size or S.dtype.kind not in "fiub":
        raise InputError(
            f"the similarity must be a (C, C) matrix of numbers, got shape {S.shape} of {S.dtype}"
        )
    S = S.astype(np.float64)
    wrong = np.argwhere(~np.isfinite(S))
    if len(wrong):
        i, j = map(int, wrong[0])
        raise InputError(f"the similarity at [{i}, {j}] is {S[i, j]}; give every pair of classes a number")
    if np.abs(S - S.T).max() > 1e-9:
        raise InputError("the similarity is not symmetric; pass (S + S.T) / 2")
    if np.abs(np.diagonal(S) - 1).max() > 1e-9:
        raise InputError("every class must have similarity 1 to itself; from distances, pass 1 - distance")
    return S
