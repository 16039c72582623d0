"""Figures of a report on a run: what `run_measures` counts and the bits look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes
from kinhash.errors import require
from kinhash.metrics.bit_statistics import bit_correlation, bit_shares, bucket_sizes
from kinhash.pages.run_measures import SearchCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def draw_mistakes(mistakes: Floats, others: Floats, weights: Floats, measure: str) -> Figure:
    """Histograms of the similarity of true and predicted class: of mistakes, and of guesses."""
    figure, (axes,) = _figure(1)
    edges = [float(edge) for edge in np.linspace(0, 1, 26)]
    axes.hist(others, bins=edges, weights=weights, color="0.75", label="guessing any other class")
    axes.hist(mistakes, bins=edges, histtype="step", color="C0", linewidth=2, label="mistakes")
    axes.set(xlabel=f"similarity of the true and the predicted class ({measure})", ylabel="pictures")
    axes.legend(frameon=False)
    return figure


def draw_distances(counts: dict[str, NDArray[np.int64]]) -> Figure:
    """Shares of pairs by Hamming distance, one line for each kind of pair."""
    figure, (axes,) = _figure(1)
    for kind, row in counts.items():
        if row.sum():
            axes.plot(row / row.sum(), label=f"{kind}: mean {_mean(row):.1f}")
    axes.set(xlabel="Hamming distance", ylabel="share of pairs of the kind")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def draw_bits(codes: Codes) -> Figure:
    """Shares of ones, correlations between bits, and how many items share a code."""
    figure, (left, middle, right) = _figure(3)
    shares = bit_shares(codes)
    left.bar(np.arange(codes.bits), shares, width=0.9)
    left.axhline(0.5, color="0.3", linewidth=0.8)
    left.set(xlabel="bit", ylabel="share of ones", ylim=(0, 1))
    heat = middle.imshow(bit_correlation(codes), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    middle.set(xlabel="bit", ylabel="bit", title="correlation")
    figure.colorbar(heat, ax=middle, shrink=0.8)
    sizes = np.sort(bucket_sizes(codes))[::-1]
    right.plot(np.arange(1, len(sizes) + 1), sizes, drawstyle="steps-mid")
    right.set(xscale="log", yscale="log", xlabel="code, by how common it is", ylabel="items of that code")
    return figure


def draw_costs(costs: Sequence[SearchCost], n: int) -> Figure:
    """What multi-index hashing reads, against the length of its keys."""
    figure, (axes,) = _figure(1)
    keys = [one.key_bits for one in costs]
    axes.plot(keys, [one.candidates for one in costs], "o-", label="entries read")
    axes.plot(keys, [one.compared for one in costs], "s--", label="codes compared")
    axes.axhline(n, color="0.3", linewidth=0.8, label=f"a scan: all {n:,}")
    axes.set(xlabel="bits of a key", ylabel="per query, 10 nearest", yscale="log")
    axes.legend(frameon=False)
    return figure


def _figure(columns: int) -> tuple[Figure, Sequence[Axes]]:
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.6) if columns == 1 else (4.2 * columns, 3.6), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, columns)))


def _mean(counts: NDArray[np.int64]) -> float:
    return float(counts @ np.arange(len(counts)) / counts.sum())
