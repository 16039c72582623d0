"""Kendall's tau-b from two sort orders, without comparing pairs.

Pairs in the wrong order are counted as in W. R. Knight, "A computer method for calculating Kendall's tau with
ungrouped data" (JASA 1966), but over ranks and bit by bit instead of by merging: no branch depends on the data.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Order = NDArray[np.int64]
Ranks = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def kendall_tau_b(x: Floats, y: Floats, order_x: Order, order_y: Order) -> float:
    """tau-b of paired values, given what sorts each; NaN where one of them is constant.

    Of n0 = n(n-1)/2 pairs n1 are tied in x, n2 in y, n3 in both: concordant - discordant = n0 - n1 - n2 + n3 -
    2 discordant, and tau-b divides that by sqrt((n0 - n1) (n0 - n2)).
    """
    n = x.shape[0]
    rank_x, starts_x = dense_ranks(x, order_x)
    rank_y, starts_y = dense_ranks(y, order_y)
    if len(starts_x) < len(
        starts_y
    ):  # counting takes one pass per bit of the ranks of y: let them be the few
        rank_x, rank_y, starts_x, starts_y, order_x, order_y = (
            rank_y,
            rank_x,
            starts_y,
            starts_x,
            order_y,
            order_x,
        )
    if len(starts_x) == n + 1:  # no ties in x
        line, tied_both = rank_y[order_x], 0
    else:
        line, tied_both = _lined_up(rank_x, starts_x, rank_y, order_y)
    pairs = n * (n - 1) // 2
    tied_x, tied_y = _tied_pairs(starts_x), _tied_pairs(starts_y)
    untied = np.float64(pairs - tied_x) * np.float64(pairs - tied_y)
    if untied <= 0:
        return np.nan
    discordant = falling_pairs(line, starts_y)
    return (pairs - tied_x - tied_y + tied_both - 2 * discordant) / np.sqrt(untied)


@njit(cache=True, nogil=True)
def dense_ranks(values: Floats, order: Order) -> tuple[Ranks, Order]:
    """Rank of every value among the distinct ones, and starts[r] = values of a rank below r."""
    n = values.shape[0]
    ranks = np.empty(n, np.uint32)
    starts = np.zeros(n + 1, np.int64)
    rank = 0
    for i in range(n):
        if i > 0 and values[order[i]] != values[order[i - 1]]:
            rank += 1
            starts[rank] = i
        ranks[order[i]] = rank
    starts[rank + 1] = n
    return ranks, starts[: rank + 2]


@njit(cache=True, nogil=True)
def _tied_pairs(starts: Order) -> int:
    total = 0
    for r in range(starts.shape[0] - 1):
        size = starts[r + 1] - starts[r]
        total += size * (size - 1) // 2
    return total


@njit(cache=True, nogil=True)
def _lined_up(rank_x: Ranks, starts_x: Order, rank_y: Ranks, order_y: Order) -> tuple[Ranks, int]:
    """Ranks in y in the order of (x, y), and the pairs tied in both: what comes in order of y is dealt out by x."""
    line = np.empty(rank_x.shape[0], np.uint32)
    free = starts_x[:-1].copy()
    run = np.zeros(free.shape[0], np.int64)  # equal ranks in y at the end of what x has been dealt
    tied_both = 0
    for i in order_y:
        x, y = rank_x[i], rank_y[i]
        at = free[x]
        run[x] = run[x] + 1 if at > starts_x[x] and line[at - 1] == y else 0
        tied_both += run[x]
        line[at] = y
        free[x] = at + 1
    return line, tied_both


@njit(cache=True, nogil=True)
def falling_pairs(line: Ranks, starts: Order) -> int:
    """Pairs i < j with line[i] > line[j], for dense ranks whose counts `starts` sums up. Overwrites `line`.

    From the highest bit down, items that agree in all bits above are parted into zeros and ones, in order: a zero
    has passed as many ones as stand before it.
    """
    distinct = starts.shape[0] - 1
    bit = 0
    while (distinct - 1) >> (bit + 1):
        bit += 1
    total = 0
    other = np.empty_like(line)
    while bit >= 0:
        width = 1 << bit
        for low in range(0, distinct, 2 * width):
            left, right = starts[low], starts[min(low + 2 * width, distinct)]
            total += _part(
                line[left:right], other[left:right], starts[min(low + width, distinct)] - left, bit
            )
        line, other = other, line
        bit -= 1
    return total


@njit(cache=True, nogil=True)
def _part(source: Ranks, target: Ranks, zeros: int, bit: int) -> int:
    """Move zeros of a bit to the front and ones behind them, each in order; return the pairs that changed order."""
    shift = np.uint32(bit)
    ones = 0
    passed = 0
    for i in range(source.shape[0]):
        value = source[i]
        is_one = 1 if (value >> shift) & np.uint32(1) else 0
        target[zeros + ones if is_one else i - ones] = value
        ones += is_one
        passed += ones & (is_one - 1)  # a mask instead of a product
    return passed


@njit(cache=True, nogil=True)
def kendall_rows(x: Floats, y: Floats, order_x: Order, order_y: Order, out: Floats) -> None:
    """tau-b of every row of x (block, n) with the same row of y."""
    for b in range(x.shape[0]):
        out[b] = kendall_tau_b(x[b], y[b], order_x[b], order_y[b])
