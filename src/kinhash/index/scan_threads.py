"""Threads that share a scan: they take pieces of the database in turn.

Nothing is dealt out beforehand, so a thread that the system holds up costs no more than the piece it is at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from kinhash.index.scan_runs import Run, Runs
from kinhash.kernels.sliced import BLOCK
from kinhash.kernels.threads import available_threads

T = TypeVar("T")
_WORK = 1 << 20  # words to be read per thread before another thread pays
_PIECES = 8  # per thread


class Piece(NamedTuple):
    """Rows start to stop of a run."""

    run: Run
    start: int
    stop: int


def _pieces(runs: Runs, queries: int, threads: int) -> tuple[list[Piece], int]:
    """Consecutive rows in order, some for every thread; and how many threads pay."""
    words = runs.rows * (runs.parts[0].words.shape[1] if runs.parts else 1)
    work = words * max(1, queries // 8)
    workers = max(1, min(threads, work // _WORK))
    size = -(-max(runs.rows, 1) // (workers * _PIECES if workers > 1 else 1))
    size = -(-size // BLOCK) * BLOCK
    pieces = [
        Piece(run, start, min(start + size, len(run.words)))
        for run in runs.parts
        for start in range(0, len(run.words), size)
    ]
    return pieces, workers


class Crew:
    """Threads for one search; this one is among them, and the others start when there is work for them."""

    def __init__(self, threads: int | None) -> None:
        self.size = threads or available_threads()
        self.pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def run(self, scan: Callable[[Iterator[Piece]], T], runs: Runs, queries: int) -> list[T]:
        """Workers take the next piece until none is left: each sees its own in order."""
        pieces, workers = _pieces(runs, queries, self.size)
        line = iter(pieces)
        if workers == 1:
            return [scan(line)]
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.size - 1)
        others = [self.pool.submit(scan, line) for _ in range(workers - 1)]
        return [scan(line), *(other.result() for other in others)]
