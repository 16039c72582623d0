"""Losses: each is a callable `loss(z, targets) -> scalar`, made once with what it needs, in a file of its own."""

from kinhash.losses.classification import ClassificationLoss
from kinhash.losses.kl import KLLoss
from kinhash.losses.marginal import MarginalLoss
from kinhash.losses.matching import MatchingLoss
from kinhash.losses.regression import RegressionLoss
from kinhash.losses.sim import SimilarityLoss
from kinhash.losses.smoothing import hierarchical_smoothing
from kinhash.losses.target_distances import ClassDistances, VectorDistances

__all__ = [
    "ClassDistances",
    "ClassificationLoss",
    "KLLoss",
    "MarginalLoss",
    "MatchingLoss",
    "RegressionLoss",
    "SimilarityLoss",
    "VectorDistances",
    "hierarchical_smoothing",
]
