"""How multi-index hashing cuts codes into keys, and what a search is expected to cost: measured on a sample.

Every choice here changes speed alone; answers are exact whatever the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from kinhash.codes import Codes, width_of
from kinhash.index import scan
from kinhash.index.multi_index_prices import (
    ENTRY,
    FREE,
    PROBE,
    code_price,
    lean_price,
    scan_price,
    wait_price,
)
from kinhash.kernels.multi_probe import GROUP
from kinhash.kernels.multi_search import Prices

Keys = list[NDArray[np.int64]]

_SAMPLE = 8192  # codes whose bits are looked at
_ASKED = 64  # of them used as queries
_K = 10  # neighbours that a typical search wants
_NEAR = 2  # bits in which a near-duplicate differs, the other typical search
_LONGEST, _SHORTEST = 26, 6  # bits of a key
_LIKE_KEY = 16  # bits that stand for a key before there are any


@dataclass(frozen=True)
class Plan:
    """The bits of every key, and what was measured about the codes."""

    bits: int
    keys: Keys
    entries: NDArray[
        np.float64
    ]  # (rounds,) entries that a query of the data is expected to read in each round
    rounds: NDArray[np.float64]  # (rounds + 1,) as in Prices
    met: NDArray[np.float64]  # (rounds + 1, bits + 2), as in Prices

    def prices(self, n: int, batch: int, *, lean: bool, bounded: bool) -> Prices:
        """What a search among n codes costs in a batch; not bounded: the scan is never asked."""
        width = width_of(self.bits)
        scanned = scan_price(n, width, batch) if bounded else np.inf
        return Prices(
            wait_price(width),
            PROBE,
            lean_price(n, width) if lean else ENTRY,
            0.0 if lean else code_price(n, width),
            scanned,
            FREE * scanned,
            self.rounds,
            self.met,
        )


def make_plan(codes: Codes, tables: int | None, *, lean: bool, threads: int | None) -> Plan:
    """The number of tables with the least expected cost (or the one asked for), correlated bits kept apart."""
    sample = _spaced(codes, _SAMPLE)
    bits = sample.to_bits()
    useful = _varying(bits)
    unlike = _correlations(bits[:, useful]) ** 2
    queries = _spaced(sample, _ASKED)
    radii = scan.k_nearest(queries, codes, min(_K + 1, len(codes)), threads=threads).distances[:, -1]
    price = _entry_price(bits, queries.to_bits(), useful, radii, len(codes), lean=lean)
    scanned = scan_price(len(codes), codes.words.shape[1], 1000)
    best: tuple[float, Keys, NDArray[np.float64], NDArray[np.float64]] | None = None
    for number in [min(tables, len(useful))] if tables else _numbers(len(useful), len(codes)):
        keys = [useful[key] for key in spread(unlike, number)]
        entries = _expected_entries(bits, queries.to_bits(), keys, codes.bits, len(codes))
        prices = _cumulative(keys, entries, wait_price(codes.words.shape[1]), price)
        far, near = np.minimum(prices[radii + 1], scanned).mean(), prices[min(_NEAR, codes.bits) + 1]
        cost = float(far + min(near, scanned))
        if best is None or cost < best[0]:
            best = cost, keys, entries, prices
    assert best is not None
    _, keys, entries, prices = best
    return Plan(codes.bits, keys, entries, prices, _met_shares(codes.bits, tuple(len(key) for key in keys)))


def longest_key(n: int) -> int:
    """Bits of a key such that the bounds of its buckets take at most two bytes per code."""
    return int(np.clip(int(np.log2(max(n, 1))) - 1, _SHORTEST, _LONGEST))


def fewest_tables(bits: int, n: int) -> int:
    """Tables that cover all bits with keys short enough."""
    return -(-bits // longest_key(n))


def spread(unlike: NDArray[np.float64], tables: int) -> Keys:
    """Bits dealt to tables of equal size, each to the table whose bits it is least correlated with.

    `unlike` is the matrix of squared correlations. Bits that follow each other would leave the buckets of their
    table uneven: a few crowded, most of them empty.
    """
    number = len(unlike)
    room = np.array([(number + j) // tables for j in range(tables)][::-1])
    keys: Keys = [np.empty(0, dtype=np.int64) for _ in range(tables)]
    sizes = np.zeros(tables)
    likeness = np.zeros((tables, number))  # of every bit to the bits of each table
    for bit in np.argsort(-unlike.sum(axis=1).round(2), kind="stable"):  # the most correlated first
        price = likeness[:, bit].round(2) + 1e-4 * sizes
        price[sizes == room] = np.inf
        chosen = int(np.argmin(price))
        likeness[chosen] += unlike[bit]
        sizes[chosen] += 1
        keys[chosen] = np.append(keys[chosen], bit)
    return [np.sort(key) for key in keys]


def signature_bits(bits: int, keys: Keys, table: int) -> NDArray[np.int64]:
    """Up to 32 bits outside the key of a table: those of the tables after it, in turn, then bits of no key."""
    others = keys[table + 1 :] + keys[:table]
    rest = np.setdiff1d(np.arange(bits), np.concatenate(keys))
    return np.concatenate([*others, rest])[:32].astype(np.int64)


def _spaced(codes: Codes, wanted: int) -> Codes:
    """Some codes at equal distances."""
    return codes[_evenly(len(codes), wanted)]


def _evenly(number: int, wanted: int) -> NDArray[np.int64]:
    """At most so many of the first whole numbers, at equal distances."""
    if not number:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.linspace(0, number - 1, min(wanted, number)).astype(np.int64))


def _varying(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Bits that are not constant; a constant bit in a key only adds buckets that are always empty."""
    varying = np.flatnonzero(bits.any(axis=0) & ~bits.all(axis=0))
    return varying if len(varying) >= _SHORTEST else np.arange(bits.shape[1])


def _correlations(bits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Correlations between bits, 0 on the diagonal and for bits that are constant."""
    centred = (bits - bits.mean(axis=0)).astype(np.float32)
    length = np.sqrt((centred**2).sum(axis=0))
    centred /= np.where(length > 0, length, 1)
    correlations: NDArray[np.float64] = (centred.T @ centred).astype(np.float64)
    np.fill_diagonal(correlations, 0)
    return correlations


def _numbers(bits: int, n: int) -> list[int]:
    """Numbers of tables worth a look."""
    fewest = fewest_tables(bits, n)
    most = max(fewest, bits // _SHORTEST)
    return sorted({min(most, number) for number in (*range(fewest, fewest + 4), 3 * fewest // 2, 2 * fewest)})


def _expected_entries(
    sample: NDArray[np.bool_], queries: NDArray[np.bool_], keys: Keys, bits: int, n: int
) -> NDArray[np.float64]:
    """Entries read in every round: pairs of sampled codes at each key distance, at least as many as chance gives."""
    entries = np.zeros(bits + 1)
    for j, key in enumerate(keys):
        weights = 1 << np.arange(len(key))
        differ = (queries[:, key] @ weights)[:, None] ^ (sample[:, key] @ weights)
        counts = np.bincount(np.bitwise_count(differ).ravel(), minlength=len(key) + 1)
        chance = np.array([comb(len(key), s) for s in range(len(key) + 1)]) / 2.0 ** len(key)
        expected = n * np.maximum(counts / differ.size, chance)
        rounds = np.arange(j, bits + 1, len(keys))[: len(key) + 1]
        entries[rounds] = expected[: len(rounds)]
    return entries


def _entry_price(
    sample: NDArray[np.bool_],
    queries: NDArray[np.bool_],
    useful: NDArray[np.int64],
    radii: NDArray[np.int32],
    n: int,
    *,
    lean: bool,
) -> float:
    """Nanoseconds of an entry: signatures nearer than the neighbours sought do not spare the look at the code."""
    width = width_of(sample.shape[1])
    if lean:
        return lean_price(n, width)
    return float(ENTRY + _compared(sample, queries, useful, radii) * code_price(n, width))


def _compared(
    sample: NDArray[np.bool_], queries: NDArray[np.bool_], useful: NDArray[np.int64], radii: NDArray[np.int32]
) -> float:
    """The share of entries whose signatures do not exclude them, among codes that differ in few bits of a key.

    Codes near in one key are nearer than others in the rest too, where bits are not independent.
    """
    signature = useful[_evenly(len(useful), 32)]
    rest = np.setdiff1d(useful, signature)
    key = rest[_evenly(len(rest), _LIKE_KEY)]
    rejected = np.stack([(sample[:, signature] != query[signature]).sum(axis=1) for query in queries])
    passed = rejected <= radii[:, None]
    near = np.stack([(sample[:, key] != query[key]).sum(axis=1) for query in queries]) <= _NEAR
    others = near.sum() - len(queries)  # every query meets itself
    return float((passed & near).sum() - len(queries)) / others if others > 0 else float(passed.mean())


def _cumulative(keys: Keys, entries: NDArray[np.float64], wait: float, entry: float) -> NDArray[np.float64]:
    """Expected cost of all rounds before each one."""
    probes = np.array([float(comb(len(keys[t % len(keys)]), t // len(keys))) for t in range(len(entries))])
    return np.concatenate(
        [[0.0], np.cumsum(np.ceil(probes / GROUP) * wait + probes * PROBE + entries * entry)]
    )


@lru_cache(maxsize=64)
def _met_shares(bits: int, lengths: tuple[int, ...]) -> NDArray[np.float64]:
    """met[t, d]: the chance that a code at distance d has been met before round t, if its d bits lie anywhere.

    A code is missed while it differs in more bits of every key than that table has probed; the number of ways to
    choose such bits is a coefficient of a product of polynomials.
    """
    ways = [np.array([comb(length, e) for e in range(length + 1)], dtype=np.float64) for length in lengths]
    rest = bits - sum(lengths)
    all_ways = np.array([float(comb(bits, d)) for d in range(bits + 1)])
    met = np.ones((bits + 2, bits + 2))
    for t in range(bits + 2):
        product = np.array([float(comb(rest, e)) for e in range(rest + 1)])
        for j, way in enumerate(ways):
            missed = way.copy()
            missed[: (t + len(lengths) - 1 - j) // len(lengths)] = 0
            product = np.convolve(product, missed)
        met[t, : bits + 1] = 1 - product / all_ways
    return np.clip(met, 1e-9, 1.0)
