"""The first thing that the demo shows: a figure known in advance, so that a stranger can trust the others."""

from __future__ import annotations

import numpy as np

from kinhash.evaluation import evaluate
from kinhash.hyperplanes import random_hyperplanes
from kinhash.meaning.class_embeddings import class_embeddings
from kinhash.meaning.semantics import Semantics
from kinhash.report import Report

PER_CLASS = 100  # the labels of CIFAR-100's test set: 100 of every class
LENGTHS = (16, 32, 64, 128)
# mAHP@250 (LCS) of such codes, measured independently of this package
KNOWN = {16: 0.940, 32: 0.975, 64: 0.990, 128: 0.994}
SEEDS = 6
TOLERANCE = 0.01


def codes_of_true_classes(tree: Semantics, bits: int, seed: int = 0) -> Report:
    """Every item gets the code of its true class: random hyperplanes of class vectors whose dot products are similarities.

    Nothing here can be mistaken, so what is missing to 1 is the cost of `bits` bits alone.
    """
    labels = np.repeat(np.arange(len(tree)), PER_CLASS)
    codes = random_hyperplanes(class_embeddings(tree.similarity), bits, seed)
    return evaluate(codes[labels], labels, semantics={"lcs": tree}, name=f"true classes, {bits} bits")


def anchors(tree: Semantics) -> dict[int, float]:
    """Code length -> mAHP@250 (LCS), mean over a few draws of hyperplanes."""
    return {
        bits: float(np.mean([codes_of_true_classes(tree, bits, seed)["mahp_lcs"] for seed in range(SEEDS)]))
        for bits in LENGTHS
    }
