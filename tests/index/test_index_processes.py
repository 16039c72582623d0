"""Several processes at one index: readers beside a writer, writers that are killed, locks."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.histories import (
    BITS,
    FILTER,
    QUERIES,
    Write,
    answer,
    perform,
    read_on,
    replay,
    same,
    write_on,
    writes,
)
from index.indexes import Model, codes_of, expected, small_limits

import kinhash as kh
from kinhash import Index
from kinhash.errors import StorageError

SPAWN = multiprocessing.get_context("spawn")


# ---- readers beside a writer ---------------------------------------------------------------------------


def possible_answers(model: Model) -> list[Any]:
    """The brute-force answers of every query to one version."""
    numbers = [int(words[0]) for words in QUERIES.words]
    assert FILTER == "n >= 3"
    return [
        expected(model, number, lambda item, q=i: q % 2 == 0 or item["n"] >= 3)[:7]
        for i, number in enumerate(numbers)
    ]


def check_answers(answers: list[Any], seed: int, acknowledged: list[tuple[int, int]]) -> None:
    """Every answer is that of a version committed between its beginning and its end."""
    commits, versions, model = [0], [possible_answers({})], Model()
    for (number, commit), write in zip(acknowledged, writes(seed), strict=False):
        assert number == len(commits) - 1
        replay(model, write)
        commits.append(commit)
        versions.append(possible_answers(model))
    for before, query, found, after in answers:
        first = np.searchsorted(commits, before, side="right") - 1
        last = np.searchsorted(
            commits, after, side="right"
        )  # one more may be durable and not yet acknowledged
        assert found in [version[query] for version in versions[first : last + 1]], (before, query, after)


def run_together(folder: Path, seconds: float, readers: int) -> int:
    Index.create(folder, BITS, ids="str").close()
    mine, theirs = SPAWN.Pipe()
    ready, stop = SPAWN.Semaphore(0), SPAWN.Event()
    writer = SPAWN.Process(target=write_on, args=(folder, 7, 0, seconds, theirs))
    pipes = [SPAWN.Pipe() for _ in range(readers)]
    others = [
        SPAWN.Process(target=read_on, args=(folder, i, ready, stop, end)) for i, (_, end) in enumerate(pipes)
    ]
    for process in others:
        process.start()
    assert all(ready.acquire(timeout=200) for _ in others)
    writer.start()
    acknowledged = list(iter(mine.recv, None))
    stop.set()
    answers = [one for ours, _ in pipes for one in ours.recv()]
    for process in [*others, writer]:
        process.join()
        assert process.exitcode == 0
    check_answers(answers, 7, acknowledged)
    assert len({str(found) for _, _, found, _ in answers}) > 3  # they saw it change
    return len(answers)


def test_readers_see_only_committed_versions(tmp_path: Path) -> None:
    assert run_together(tmp_path / "i", 2, 1) > 20


@pytest.mark.slow
def test_readers_see_only_committed_versions_for_a_minute(tmp_path: Path) -> None:
    assert run_together(tmp_path / "i", 60, 3) > 5000


def test_the_check_of_answers_can_fail() -> None:
    right = possible_answers({})
    check_answers([(0, 0, right[0], 0)], 7, [])
    with pytest.raises(AssertionError):
        check_answers([(0, 0, [(1, "stranger")], 0)], 7, [])
    first = next(writes(7))
    model: Model = dict(first.items)
    with pytest.raises(AssertionError):  # an answer from the past
        check_answers([(1, 0, right[0], 1)], 7, [(0, 1)])
    check_answers([(1, 0, possible_answers(model)[0], 1)], 7, [(0, 1)])


# ---- writers that are killed ---------------------------------------------------------------------------


def kill_and_look(folder: Path, kills: int, seed: int) -> None:
    """Whatever was acknowledged before kill -9 is there; what was under way is there wholly or not at all."""
    Index.create(folder, BITS, ids="str").close()
    rng, model, done = random.Random(seed), Model(), 0
    for _ in range(kills):
        mine, theirs = SPAWN.Pipe()
        writer = SPAWN.Process(target=write_on, args=(folder, seed, done, 60, theirs))
        writer.start()
        theirs.close()
        last = mine.recv()[0]
        timer = threading.Timer(rng.uniform(0, 0.4), os.kill, (writer.pid, signal.SIGKILL))
        timer.start()
        try:
            while True:
                last = mine.recv()[0]
        except EOFError:
            pass
        writer.join()
        timer.join()
        assert writer.exitcode == -signal.SIGKILL
        history = writes(seed)
        past: list[Write] = [next(history) for _ in range(last + 2)]
        for write in past[done:-1]:
            replay(model, write)
        with Index.open(folder) as index:
            assert index.verify().items == len(index)
            done = last + 1
            if not same(index, model):
                replay(model, past[-1])
                done = last + 2
            assert same(index, model)
            index.compact()  # a new writer finds no lock and no obstacle
            assert sum(path.name.startswith("segment") for path in folder.iterdir()) <= 1
            assert same(index, model)


def test_a_killed_writer_loses_nothing(tmp_path: Path) -> None:
    kill_and_look(tmp_path / "i", 3, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_killed_writers_lose_nothing(tmp_path: Path, seed: int) -> None:
    kill_and_look(tmp_path / "i", 20, seed)


# ---- locks ---------------------------------------------------------------------------------------------


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    first = Index.create(tmp_path / "i", 8)
    first.add([1], codes_of([1], 8))
    second = Index.open(tmp_path / "i")
    with pytest.raises(StorageError, match=r"has a writer already.*close that one first"):
        second.add([2], codes_of([2], 8))
    assert len(second) == 1
    first.close()
    second.add([2], codes_of([2], 8))
    second.close()


def in_another_process(script: str, folder: Path) -> None:
    head = "import sys, kinhash as kh, numpy as np\nfolder = sys.argv[1]\n"
    done = subprocess.run([sys.executable, "-c", head + script, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_writer_that_closes_leaves_the_locks_of_readers_beside_it(tmp_path: Path) -> None:
    """Closing a plain handle of the manifest would drop them, and other processes would remove the log we read."""
    folder = tmp_path / "i"
    writer = Index.create(folder, 8)
    writer.add([0], codes_of([0], 8))
    reader = Index.open(folder, read_only=True)
    assert len(reader) == 1
    writer.close()
    assert reader.verify().items == 1
    for number in range(1, 4):
        add = f"with kh.Index.open(folder) as i: i.add([{number}], kh.Codes.from_hex(['0f'], 8))"
        in_another_process(add, folder)
        assert len(reader) == number + 1
    reader.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_the_child_is_told_to_open_its_own(tmp_path: Path) -> None:
    script = """
import os
from kinhash.errors import StorageError
index = kh.Index.create(folder, 8)
index.add([1], kh.Codes.from_hex(["0f"], 8))
if child := os.fork():
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    index.add([2], kh.Codes.from_hex(["0f"], 8))
    assert index.verify().items == 2
else:
    try:
        len(index)
    except StorageError as error:
        os._exit(0 if "open it in each process" in str(error) else 1)
    os._exit(2)
"""
    in_another_process(script, tmp_path / "i")


class _Slow(dict[str, Any]):
    """Lets other threads in where a loop over a dict has begun, and where it has become smaller."""

    def __iter__(self) -> Iterator[str]:
        found = super().__iter__()
        time.sleep(0.001)
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        time.sleep(0.001)
        super().__setitem__(key, value)


def test_threads_filter_at_once(tmp_path: Path) -> None:
    """More filters than a segment remembers, from several threads."""
    index, wrong = Index.create(tmp_path / "i", 8), list[BaseException]()
    index.add(np.arange(64), kh.Codes(np.zeros((64, 1), np.uint64), 8), {"g": np.arange(64) % 32})
    index.compact()
    for segment in index._view.segments.values():
        segment._answers = _Slow()

    def read(seed: int) -> None:
        try:
            for value in np.random.default_rng(seed).permutation(32).tolist():
                assert index.count({"g": value}) == 2
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    index.close()


def test_threads_share_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, large=20, entries=9)
    index, model, wrong = Index.create(tmp_path / "i", BITS, ids="str"), Model(), list[BaseException]()
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                found = answer(index, 0)
                assert found == sorted(found)
                assert len(found) == len({name for _, name in found})
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _, write in zip(range(60), writes(3), strict=False):
        perform(index, write)
        replay(model, write)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    assert same(index, model)
    index.close()
