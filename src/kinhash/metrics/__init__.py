"""How good a ranking is, and how good the bits are. Every metric is a function that returns one value per query."""

from kinhash.metrics.bit_statistics import BitStatistics, bit_statistics, mean_nn_hamming
from kinhash.metrics.ranking import RankingScores, score_ranking

__all__ = ["BitStatistics", "RankingScores", "bit_statistics", "mean_nn_hamming", "score_ranking"]
