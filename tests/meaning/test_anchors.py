"""Published and measured values that a random ranking must have, through semantics and metrics together."""

from __future__ import annotations

import numpy as np
import pytest
from realdata import find_data

import kinhash as kh
from kinhash.codes import Codes
from kinhash.metrics.ranking import score_ranking


@pytest.fixture(scope="module")
def random_scores() -> dict[str, float]:
    """mAHP@250 of random 64-bit codes, 100 items of each class of CIFAR-100, every item a query to the others."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 100)
    codes = Codes.from_logits(rng.normal(size=(len(labels), 64)))
    similarities = {
        "lcs": kh.semantics("tree:cifar100").similarity,
        "nltk": kh.semantics("wordnet", "cifar100", variant="nltk").similarity,
        "symmetric": kh.semantics("wordnet", "cifar100").similarity,
    }
    return score_ranking(codes, labels, similarities=similarities, k=250, full=False).metrics


@pytest.mark.parametrize(("name", "anchor"), [("lcs", 0.193), ("nltk", 0.4825), ("symmetric", 0.4825)])
def test_random_rankings_of_cifar100(random_scores: dict[str, float], name: str, anchor: float) -> None:
    assert random_scores[f"mahp_{name}"] == pytest.approx(anchor, abs=0.005)


@pytest.mark.parametrize(("measure", "anchor"), [("lcs", 0.313), ("wup", 0.474)])
def test_random_rankings_of_ilsvrc_by_expectation(measure: str, anchor: float) -> None:
    """In a random order HP@k is mean similarity over ideal similarity at every k: no ranking need be drawn."""
    path = find_data("hierarchies/ilsvrc.pruned.parent-child.txt.xz")
    kin = kh.semantics(f"tree:{path}", "ilsvrc2012", measure=measure, variant="barz")
    per_class, k = 50, 250
    best = -np.sort(-kin.similarity, axis=1)[:, : k // per_class + 1]
    ideal = np.cumsum(np.repeat(best, per_class, axis=1)[:, 1 : k + 1], axis=1)  # without the query itself
    mean = (kin.similarity.sum(axis=1) * per_class - 1) / (len(kin) * per_class - 1)
    hp = mean[:, None] * np.arange(1, k + 1) / ideal
    ahp = (hp.sum(axis=1) - (hp[:, 0] + hp[:, -1]) / 2) / k
    assert ahp.mean() == pytest.approx(anchor, abs=0.005)
