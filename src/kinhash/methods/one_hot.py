"""Trivial codes: one bit for every class, set where it is the predicted one.

Not proposed by anybody, but what every comparison by class labels should survive (Sablayrolles, Douze, Usunier, Jegou: How
should we evaluate supervised hashing?, ICASSP 2017): with C bits,

    code = one-hot(argmax_c logits_c)

knows nothing of kinship, and nothing of classes that it has not seen. Bits beyond the classes are 0.
"""

from __future__ import annotations

import torch

from kinhash.errors import InputError
from kinhash.methods.class_network import ClassNetwork
from kinhash.methods.contract import PLAIN, Fitting, Method, Problem
from kinhash.models.coders import Lookup


def _fit(fitting: Fitting) -> Lookup:
    problem = fitting.problem
    return Lookup.of(2 * torch.eye(problem.classes, problem.bits) - 1)


def _check(problem: Problem) -> None:
    if problem.bits < problem.classes:
        raise InputError(
            f"one-hot codes of {problem.classes} classes have no room in {problem.bits} bits: pass "
            f"bits={problem.classes} or more, or train a method whose codes are shorter, such as 'sim-kl-class'"
        )


ONE_HOT = Method(
    "one bit for every class, set where it is the predicted one: the trivial solution",
    ClassNetwork,
    paper="Sablayrolles et al., ICASSP",
    year=2017,
    formula="one-hot(argmax softmax(W f))",
    retrieves="codes",
    needs=frozenset({"labels"}),
    recipe={**PLAIN, "activation": "features"},
    shapes_by_class=True,
    check=_check,
    fit=_fit,
)
