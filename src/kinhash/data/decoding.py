"""Pictures of any size -> squares of one size, by worker threads or processes; never imports torch."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kinhash.data.augment import Floats, window_box
from kinhash.data.images import Broken, Pixels, Source, open_rgb, reading_threads
from kinhash.data.preprocessing import Preprocessing
from kinhash.errors import FormatError, InputError, NotFoundError

CHUNK = 16  # pictures per task: long enough to hide the hand-over, short enough to share out evenly


@dataclass(frozen=True)
class Decoded:
    """The readable ones of some pictures: which (positions in what was asked for), their pixels; the others."""

    positions: NDArray[np.int64]
    pictures: Pixels  # (readable, S, S, 3)
    broken: list[Broken]


def decode(
    sources: Sequence[Source], ids: Sequence[str], preprocessing: Preprocessing, windows: Floats | None = None
) -> Decoded:
    """All of `sources` in this thread; `windows` (n, 4) draw crops of random size in place of the middle."""
    good: list[int] = []
    out = np.empty((len(sources), preprocessing.size, preprocessing.size, 3), dtype=np.uint8)
    broken = []
    for i, source in enumerate(sources):
        try:
            picture = (
                preprocessing.picture(source)
                if windows is None
                else _window(source, preprocessing.size, windows[i])
            )
        except (FormatError, NotFoundError, InputError) as error:
            broken.append(Broken(ids[i], str(error)))
            continue
        out[len(good)] = picture
        good.append(i)
    return Decoded(np.array(good, dtype=np.int64), out[: len(good)], broken)


class Decoder:
    """A pool of workers that decodes batches ahead of time, in order.

    Threads do for most cases, since Pillow decodes and resizes without the interpreter lock; `processes` pays
    where a core is not enough for what remains under it (large batches of small files).
    """

    def __init__(self, preprocessing: Preprocessing, workers: int = 0, processes: bool = False) -> None:
        self.preprocessing = preprocessing
        self.workers = reading_threads(workers)
        self.processes = processes
        self._pool: Executor | None = None

    def batches(
        self, requests: Iterable[tuple[Sequence[Source], Sequence[str], Floats | None]], ahead: int = 3
    ) -> Iterator[Decoded]:
        """The decoded batches in order, `ahead` of them in work while one is used."""
        waiting: deque[list[Future[Decoded]]] = deque()
        try:
            for sources, ids, windows in requests:
                waiting.append(self._submit(sources, ids, windows))
                if len(waiting) > ahead:
                    yield _joined([task.result() for task in waiting.popleft()])
            while waiting:
                yield _joined([task.result() for task in waiting.popleft()])
        finally:
            for task in (task for batch in waiting for task in batch):
                task.cancel()

    def close(self) -> None:
        """Let the workers go; the next batch starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _submit(
        self, sources: Sequence[Source], ids: Sequence[str], windows: Floats | None
    ) -> list[Future[Decoded]]:
        if self._pool is None:
            self._pool = _pool(self.workers, self.processes)
        parts = range(0, max(len(sources), 1), CHUNK)
        return [
            self._pool.submit(
                decode,
                list(sources[i : i + CHUNK]),
                list(ids[i : i + CHUNK]),
                self.preprocessing,
                None if windows is None else windows[i : i + CHUNK],
            )
            for i in parts
        ]


def decode_all(
    sources: Sequence[Source],
    ids: Sequence[str],
    preprocessing: Preprocessing,
    *,
    workers: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> Decoded:
    """Every picture in one array, by threads; `progress` is told how many are done."""
    starts = range(0, len(sources), 512)
    decoder = Decoder(preprocessing, workers)
    parts = []
    try:
        for part in decoder.batches((sources[i : i + 512], ids[i : i + 512], None) for i in starts):
            parts.append(part)
            if progress is not None:
                progress(len(part.positions) + len(part.broken))
    finally:
        decoder.close()
    return _joined(parts, list(starts)) if parts else decode([], [], preprocessing)


def _joined(parts: Sequence[Decoded], starts: Sequence[int] | None = None) -> Decoded:
    offsets = range(0, CHUNK * len(parts), CHUNK) if starts is None else starts
    return Decoded(
        np.concatenate([part.positions + offset for part, offset in zip(parts, offsets, strict=True)]),
        np.concatenate([part.pictures for part in parts]),
        [broken for part in parts for broken in part.broken],
    )


def _window(source: Source, size: int, window: Floats) -> Pixels:
    image = open_rgb(source, near=2 * size)
    box = window_box(window, *image.size)
    return np.asarray(image.resize((size, size), Image.Resampling.BICUBIC, box=box))


def _pool(workers: int, processes: bool) -> Executor:
    if not processes:
        return ThreadPoolExecutor(workers, thread_name_prefix="kinhash-decode")
    # forking a process that holds a CUDA context or running threads is not safe
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
