"""Endless random writes, the same for the same seed: a process performs them, a test replays them on a dict."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from index.indexes import Model, codes_of, small_limits

from kinhash import Index
from kinhash.index.head import HeadFile
from kinhash.index.scan import k_nearest

BITS = 20
QUERIES = codes_of([0, 2**BITS - 1, 0x5A5A5, 0x12345], BITS)
FILTER = "n >= 3"
_MOST = 300  # items, so that a brute-force answer stays cheap


class Write(NamedTuple):
    """One call of a method that writes; `items` maps ids to (code as a number, metadata)."""

    verb: str
    items: Model


def writes(seed: int) -> Iterator[Write]:
    """Adds, replacements, deletions and compactions that fit each other."""
    rng = random.Random(seed)
    alive: set[str] = set()
    fresh = 0
    while True:
        verb = rng.choices(["add", "replace", "delete", "compact"], [6, 3, 3, 0.2])[0]
        if len(alive) > _MOST:
            verb = "delete"
        some = rng.sample(sorted(alive), min(len(alive), rng.randint(1, 40 if verb == "delete" else 12)))
        if verb == "compact":
            yield Write(verb, {})
            continue
        if verb == "add" or not some:
            verb, some = "add", [f"{rng.randint(0, 99):02d}-{fresh + i}" for i in range(rng.randint(1, 25))]
            fresh += len(some)
            alive |= set(some)
        if verb == "delete":
            alive -= set(some)
        # few different codes, so that ties and duplicates are everywhere
        yield Write(verb, {name: (rng.getrandbits(4) * 0x11111, {"n": rng.randint(0, 9)}) for name in some})


def perform(index: Index, write: Write) -> None:
    names = list(write.items)
    if write.verb == "compact":
        index.compact()
    elif write.verb == "delete":
        index.delete(names)
    else:
        codes = codes_of([code for code, _ in write.items.values()], BITS)
        getattr(index, write.verb)(names, codes, [item for _, item in write.items.values()])


def replay(model: Model, write: Write) -> None:
    if write.verb == "delete":
        for name in write.items:
            del model[name]
    else:
        model |= write.items


def same(index: Index, model: Model) -> bool:
    """Whether an index holds exactly what a dict does."""
    ids, codes = index.items()
    names = sorted(model)
    if ids.tolist() != names or codes != codes_of([model[name][0] for name in names], BITS):
        return False
    return not names or index.get(names).metadata == [model[name][1] for name in names]


def answer(index: Index, query: int) -> list[tuple[int, Any]]:
    """(distance, id) of one search; the number of the query says which."""
    where = FILTER if query % 2 else None
    hits = index.search(QUERIES[query], 7, where=where, fewer=True)
    return list(zip(hits.distances[0].tolist(), hits.ids[0].tolist(), strict=True))


def commit_of(folder: Path) -> int:
    """The number of the last acknowledged commit."""
    head = HeadFile(folder)
    try:
        return head.read().commit
    finally:
        head.close()


# ---- what other processes run --------------------------------------------------------------------------


def write_on(folder: Path, seed: int, first: int, seconds: float, acknowledged: Any) -> None:
    """Perform the writes of a seed from number `first` on; tell the commit of each once it is acknowledged."""
    small_limits(pytest.MonkeyPatch(), large=20, entries=9)
    end = time.monotonic() + seconds
    with Index.open(folder) as index:
        for number, write in enumerate(writes(seed)):
            if number < first:
                continue
            perform(index, write)
            acknowledged.send((number, commit_of(folder)))
            if time.monotonic() > end:
                break
    acknowledged.send(None)


def read_on(folder: Path, seed: int, ready: Any, stop: Any, found: Any) -> None:
    """Ask until told to stop; tell every answer with the commits between which it was given."""
    rng = np.random.default_rng(seed)
    for few in (1, 4):
        k_nearest(QUERIES[:few], QUERIES, 1)  # the kernels are loaded before the writer begins
    ready.release()
    index, answers = Index.open(folder, read_only=True), []
    while not stop.is_set():
        if rng.random() < 0.02:
            index.close()
            index = Index.open(folder, read_only=True)
        if rng.random() < 0.01:
            index.verify()
        query, before = int(rng.integers(4)), commit_of(folder)
        answers.append((before, query, answer(index, query), commit_of(folder)))
    index.close()
    found.send(answers)
