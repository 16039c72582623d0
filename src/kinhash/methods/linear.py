"""Codes of given features in closed form: signs of random, of principal, and of rotated principal directions.

    LSH        sign(W (x - mean)), W Gaussian (Charikar, STOC 2002); the mean is that of the training rows, since
               features behind a ReLU are all positive and planes through 0 would hardly divide them
    PCA-sign   sign(V (x - mean)), V the leading eigenvectors of the covariance
    ITQ        sign(R V (x - mean)), R the rotation with the least |B - R V (x - mean)|^2, B = signs, by turns: B given R,
               then R as the orthogonal Procrustes solution (Gong & Lazebnik: Iterative Quantization, CVPR 2011); 50 turns

Nothing is trained. PCA and ITQ have at most as many bits as features.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from kinhash.errors import InputError
from kinhash.methods.contract import Fitting, Method
from kinhash.models.coders import Affine
from kinhash.quantisation import turned_to_signs

Directions = Callable[[Fitting, Tensor], Tensor]


def random_directions(fitting: Fitting, rows: Tensor) -> Tensor:
    """(width, bits) Gaussian numbers."""
    return torch.randn(rows.shape[1], fitting.problem.bits, generator=fitting.problem.generator())


def principal_directions(fitting: Fitting, rows: Tensor) -> Tensor:
    """(width, bits) eigenvectors of the covariance, the largest eigenvalue first; the largest entry of each is positive."""
    bits, width = fitting.problem.bits, rows.shape[1]
    if bits > width:
        raise InputError(
            f"features of {width} numbers have {width} principal directions, not {bits}: pass bits={width} or fewer, or "
            "choose 'lsh', which makes codes of any length"
        )
    found = rows.double()
    _, vectors = torch.linalg.eigh(found.T @ found)
    leading = vectors.flip(1)[:, :bits]
    largest = leading.gather(0, leading.abs().argmax(0, keepdim=True))
    return leading * largest.sign()


def rotated_directions(fitting: Fitting, rows: Tensor) -> Tensor:
    """(width, bits): principal directions, turned until the signs of the rows are as near to them as they get."""
    V = principal_directions(fitting, rows)
    own = rows.double() @ V
    draw = torch.randn(V.shape[1], V.shape[1], generator=fitting.problem.generator(), dtype=torch.float64)
    start = torch.linalg.qr(draw)[0]
    R = turned_to_signs(own.numpy(), start.numpy(), int(fitting.problem.parameters["turns"]))
    return V @ torch.from_numpy(R)


def _fitted(directions: Directions) -> Callable[[Fitting], Affine]:
    def fit(fitting: Fitting) -> Affine:
        z = fitting.seen().z
        mean = z.double().mean(0)
        return Affine.of(directions(fitting, z - mean).float(), mean.float())

    return fit


def _method(about: str, directions: Directions, paper: str, year: int, formula: str, **own: int) -> Method:
    return Method(
        about,
        None,
        paper=paper,
        year=year,
        formula=formula,
        retrieves="codes",
        needs=frozenset({"features"}),
        recipe={"head": "none", "activation": "features"},
        parameters=own,
        fit=_fitted(directions),
    )


LINEAR: dict[str, Method] = {
    "lsh": _method(
        "on which side of random hyperplanes features lie; nothing is trained",
        random_directions,
        "Charikar, STOC",
        2002,
        "sign(W (x - mean)), W Gaussian",
    ),
    "pca-sign": _method(
        "signs of the principal components of features; nothing is trained",
        principal_directions,
        "Gong & Lazebnik, CVPR",
        2011,
        "sign(V (x - mean)), V leading eigenvectors",
    ),
    "itq": _method(
        "principal components turned towards their signs; nothing is trained",
        rotated_directions,
        "Gong & Lazebnik, CVPR",
        2011,
        "sign(R V (x - mean)), min_R |B - R V (x - mean)|^2",
        turns=50,
    ),
}
