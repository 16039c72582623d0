"""Blocks of rows on a pool of threads; the kernels inside release the interpreter lock.

A pool instead of `prange`: it compiles faster, and Numba's default threading layer must not be entered from
two threads at once, which a server does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kinhash.arrays import is_whole
from kinhash.errors import InputError


def available_threads() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_blocks(run: Callable[[int, int], object], total: int, block: int, threads: int | None = None) -> None:
    """Call `run(start, stop)` for consecutive blocks of [0, total). The result must not depend on the order."""
    starts = range(0, total, block)
    if threads is not None and (not is_whole(threads) or threads < 1):
        raise InputError(f"threads is a positive whole number, or None for all; got {threads!r:.60}")
    workers = min(threads or available_threads(), len(starts))
    if workers <= 1:
        for start in starts:
            run(start, min(start + block, total))
        return
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(run, start, min(start + block, total)) for start in starts]:
            done.result()
