"""Posterior: the expected class embedding of a classifier, cut by learned hyperplanes.

The strong baseline that Arponen & Bishop (2020) do not compare with; embeddings of Barz & Denzler (WACV 2019):

    L = CE(W f, y);   r = W_h (p E - mean),  p = softmax(W f),  E E^T = S,  code = sgn r

E are the embeddings of the classes in the hierarchy, p E is what the classifier expects. The hyperplanes W_h are learned
after the training, in closed form: the ridge regression from the embeddings to codes of the classes whose Hamming distances
follow the semantics (`kinhash.meaning.class_codes`), as in the centres of SHC. `posterior_planes="random"` draws them
(Charikar, STOC 2002). Both maps are linear, so they are one (classes, bits) matrix behind the softmax.
"""

from __future__ import annotations

import numpy as np
import torch

from kinhash.arrays import checked_choice
from kinhash.meaning.class_codes import class_codes, separation
from kinhash.methods.class_network import ClassNetwork
from kinhash.methods.contract import PLAIN, Fitting, Method, Problem
from kinhash.models.coders import Affine


def _fit(fitting: Fitting) -> Affine:
    problem = fitting.problem
    embeddings = spectral(problem.known_distances().double().numpy())
    centred = embeddings - embeddings.mean(0)
    if problem.parameters["posterior_planes"] == "random":
        planes = np.random.default_rng(problem.seed).normal(size=(embeddings.shape[1], problem.bits))
    else:
        codes = class_codes(problem.known_distances().numpy(), problem.bits, seed=problem.seed)
        ridge = float(problem.parameters["posterior_ridge"])
        gram = centred.T @ centred
        gram += ridge * np.trace(gram) / len(gram) * np.eye(len(gram))
        planes = np.linalg.solve(gram, centred.T @ codes.signs)
    return Affine.of(torch.from_numpy(centred @ planes), source="posterior")


def spectral(distances: np.ndarray) -> np.ndarray:
    """(C, D) embeddings whose inner products are the similarities, or the nearest there can be."""
    values, vectors = np.linalg.eigh(1 - (distances + distances.T) / 2)
    kept = values > 1e-9 * values[-1]
    found: np.ndarray = vectors[:, kept] * np.sqrt(values[kept])
    return found


def _check(problem: Problem) -> None:
    checked_choice(str(problem.parameters["posterior_planes"]), ("learned", "random"), "posterior_planes")
    separation(problem.classes, problem.bits)


POSTERIOR = Method(
    "a classifier's expected class embedding, cut by learned hyperplanes",
    ClassNetwork,
    paper="baseline; Barz & Denzler, WACV",
    year=2019,
    formula="CE; code = sgn W (p E), E E^T = S, W learned from codes of the classes",
    metric="cosine",
    needs=frozenset({"labels", "semantics"}),
    recipe={**PLAIN, "activation": "features"},
    parameters={"posterior_planes": "learned", "posterior_ridge": 1e-3},
    shapes_by_class=True,
    check=_check,
    fit=_fit,
)
