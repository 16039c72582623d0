"""Semantic hash centres: centres whose Hamming distances follow meaning, none too near another, then central similarity.

Chen et al.: Deep Hashing with Semantic Hash Centers for Image Retrieval (2025). With d_ij the distance between classes:

    centres  min sum_ij w_ij (h_ij - a d_ij)^2  with Hamming distances h_ij >= m
    codes    L = mean_bj -[(1 + c)/2 log h + (1 - c)/2 log(1 - h)] + shc_weight * mean_bj (|z| - 1)^2

The paper takes similarities from a classifier trained first and solves for the centres by its own relaxation; here they are
the given semantics, and the centres come from simulated annealing (`kinhash.meaning.class_codes`). m is `shc_separation`
times the distance that Gilbert and Varshamov guarantee: all of it leaves little room for meaning. The second stage is that
of CSQ, which is our choice. A mixed sample aims at the mixture of its centres.
"""

from __future__ import annotations

import torch

from kinhash.errors import InputError
from kinhash.meaning.class_codes import class_codes, separation
from kinhash.methods.contract import PLAIN, Method, Problem
from kinhash.methods.csq import CentralObjective


def _build(problem: Problem) -> CentralObjective:
    distances = problem.known_distances().numpy()
    share = float(problem.parameters["shc_separation"])
    least = max(1, round(share * separation(problem.classes, problem.bits)))
    found = class_codes(distances, problem.bits, least=least, seed=problem.seed)
    return CentralObjective(torch.from_numpy(found.signs).float(), float(problem.parameters["shc_weight"]))


def _check(problem: Problem) -> None:
    separation(problem.classes, problem.bits)
    share = problem.parameters["shc_separation"]
    if not 0 <= share <= 1:
        raise InputError(
            f"shc_separation is the share of the guaranteed distance between centres, 0 to 1; got {share:g}"
        )


SHC = Method(
    "codes gather around centres that follow meaning and keep a minimum distance",
    _build,
    paper="Chen et al., arXiv 2507.08404",
    year=2025,
    formula="BCE(h, c_y) + w (|z| - 1)^2, |c - c'|_H ~ a d(y, y') and >= m",
    needs=frozenset({"labels", "semantics"}),
    recipe={**PLAIN, "activation": "tanh"},
    parameters={"shc_weight": 1e-4, "shc_separation": 0.25},
    check=_check,
)
