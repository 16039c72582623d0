"""Binary centres of classes, known before the training: rows of a Hadamard matrix, or random codes."""

from __future__ import annotations

import torch
from torch import Tensor

from kinhash.arrays import checked_choice
from kinhash.errors import InputError
from kinhash.feeding.targets import Targets
from kinhash.methods.contract import Problem

_DRAWS = 16


def hadamard(order: int) -> Tensor:
    """(order, order) of +-1 with orthogonal rows (Sylvester 1867), for a power of two."""
    matrix = torch.ones(1, 1)
    while len(matrix) < order:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix


def has_hadamard(problem: Problem) -> bool:
    """Whether rows of a Sylvester matrix and their negatives are enough centres."""
    return problem.bits & (problem.bits - 1) == 0 and problem.classes <= 2 * problem.bits


def centres_of(problem: Problem, kind: str) -> Tensor:
    """(C, bits) float32 of +-1. "auto" is "hadamard" where it can be, else "random".

    Hadamard: different rows differ in half of their bits, a row and its negative, needed only beyond `bits` classes, in all.
    Rows come in random order, and half of their signs are turned: every bit is then set for about half of the
    classes, as the batch norm of the hash layer expects. Random: half of the bits of every centre are set, and it is the one
    of 16 draws that lies furthest from the nearest centre before it, lest two classes share one.
    """
    draw = problem.generator()
    if kind == "hadamard" or (kind == "auto" and has_hadamard(problem)):
        order = torch.randperm(problem.bits, generator=draw)
        signs = torch.where(torch.randperm(problem.bits, generator=draw) % 2 == 0, 1.0, -1.0)
        rows = hadamard(problem.bits)[order] * signs[:, None]
        return torch.cat([rows, -rows])[: problem.classes]
    half = torch.where(torch.arange(problem.bits) < problem.bits // 2, 1.0, -1.0)
    found = torch.zeros(problem.classes, problem.bits)
    for i in range(problem.classes):
        drawn = torch.stack([half[torch.randperm(problem.bits, generator=draw)] for _ in range(_DRAWS)])
        nearest = (drawn @ found[:i].T).amax(1) if i else torch.zeros(_DRAWS)
        found[i] = drawn[nearest.argmin()]
    return found


def check_centres(problem: Problem, kind: str) -> None:
    """Refuse centres that there cannot be."""
    checked_choice(kind, ("auto", "hadamard", "random"), "centres")
    if 2**problem.bits < problem.classes:
        raise InputError(
            f"{problem.bits} bits make fewer codes than there are classes; {problem.classes} classes need at least "
            f"{(problem.classes - 1).bit_length()} bits"
        )
    if kind == "hadamard" and not has_hadamard(problem):
        enough = 1 << max(0, (-(-problem.classes // 2) - 1).bit_length())
        raise InputError(
            f"a Hadamard matrix gives centres to {problem.classes} classes where the code length is a power of two from "
            f"{enough} on, and {problem.bits} is not; choose such a length, or centres='auto' for random ones"
        )


def aims(targets: Targets, centres: Tensor, dtype: torch.dtype) -> Tensor:
    """(B, bits) the centre of each sample's class; the mixture of centres for a mixed sample."""
    with torch.autocast(centres.device.type, enabled=False):
        return targets.soft(len(centres), dtype) @ centres.to(dtype)
