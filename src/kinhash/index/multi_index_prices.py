"""What the steps of multi-index hashing cost, and what the scan costs that competes with them."""

from __future__ import annotations

# nanoseconds, measured by benchmarks/multi_index.py on the machine that its results name; ratios are what matters
WAIT, PROBE, ENTRY, LEAN_ENTRY, CODE = 850.0, 17.0, 0.65, 8.0, 9.0  # WAIT: per group of probes
_KEY = 170.0  # what every word of a code adds to WAIT: keys are put together from its bytes
_FAR = 5.0  # what every word adds to CODE where codes do not stay in the cache
# the scan, per word: in a large batch; what a single query adds; the same where codes stay in the cache
_SCAN_MANY, _SCAN_ONE, _SCAN_CACHED = 0.026, 0.2, 0.09
_CACHE = 1 << 24  # bytes
FREE = 0.07  # share of the scan's price that a search may spend before it asks which is cheaper
_PART = 200  # one in so many codes is the largest part that is looked for in tables
_SMALL = 1e5  # nanoseconds of a whole batch by the scan, below which calls cost more than searches


def worth_it(n: int, width: int, batch: int, k: int = 0) -> bool:
    """Whether the scan takes long enough for probes to be tried first, and k is a small part of the codes."""
    scanned = scan_price(n, width, batch)
    return batch * scanned > _SMALL and FREE * scanned > wait_price(width) and k * _PART <= n


def scan_price(n: int, width: int, batch: int) -> float:
    """Nanoseconds per query that the scan of n codes takes in a batch of this size."""
    one = _SCAN_CACHED if _stays_in_cache(n, width) else _SCAN_ONE
    return n * width * (_SCAN_MANY + one / max(1, batch))


def wait_price(width: int) -> float:
    """Nanoseconds of a group of probes, whatever it holds."""
    return WAIT + _KEY * width


def code_price(n: int, width: int) -> float:
    """Nanoseconds to read a code and take its distance."""
    return CODE if _stays_in_cache(n, width) else CODE + _FAR * width


def lean_price(n: int, width: int) -> float:
    """Nanoseconds of an entry whose code is read at once."""
    return LEAN_ENTRY + code_price(n, width) - code_price(n, 1)


def _stays_in_cache(n: int, width: int) -> bool:
    return 8 * n * width <= _CACHE
