"""The index on disk: opening, the first search of a process, filters, and writes that are durable when they return.

`python benchmarks/index.py --check` prints the figures and exits 1 where one falls short; without --check there are more
repetitions, and results/search/index.json is written. Rivals in the same run: FAISS (`write_index_binary` and reading it
again) for opening, SQLite with one BLOB row per code and the same durability for writing.

Writes are measured twice: on the disk at hand, and in memory where a loaded library lets every fsync take 0.2 ms
(`tools/fsync_probe.py`), since disks differ by a factor of a hundred. Both count the fsyncs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import fsync_probe
import numpy as np
from measure import Check, interleaved, print_rows, verdict, write_result

import kinhash as kh

BITS, N, BATCH = 64, 50_000_000, 1000
FSYNC_MICROSECONDS = 200
Row = dict[str, Any]
FIRST_SEARCH = """
import time
start = time.perf_counter()
import sys, numpy as np, kinhash as kh
imported = time.perf_counter()
index = kh.Index.open(sys.argv[1], read_only=True)
opened = time.perf_counter()
index.search(kh.Codes(np.array([[12345]], dtype=np.uint64), 64), 10)
print(imported - start, opened - imported, time.perf_counter() - opened)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fewer repetitions, and do not write the result")
    parser.add_argument("--writes", nargs=2, metavar=("FOLDER", "BATCHES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writes:
        print(json.dumps(durable_writes(Path(options.writes[0]), int(options.writes[1]))))
        return 0
    with tempfile.TemporaryDirectory(prefix="kinhash-index-") as name:
        folder = Path(name)
        writes = written(folder, 150 if options.check else 700)
        large = build(folder / "large")
        read = reading(folder, large, 3 if options.check else 9)
    rows = [*writes, *read]
    print_rows(rows)
    if not options.check:
        print(write_result("search", "index", packages=("faiss-cpu",), rows=rows, protocol=protocol()))
    return verdict(checks({row["what"]: row for row in rows}))


def protocol() -> dict[str, Any]:
    return {
        "codes": f"uniform, {BITS} bits",
        "files": "in the page cache",
        "sqlite": sqlite3.sqlite_version
        + ", WAL, synchronous=FULL, one row (INTEGER PRIMARY KEY, BLOB) per code",
        "fresh process": "with Numba's cache of kernels",
    }


def checks(rows: dict[str, Row]) -> list[Check]:
    fast = "fsync of 0.2 ms (in memory)"
    batches, single = rows[f"batches of {BATCH}, {fast}"], rows[f"single adds, {fast}"]
    new, one = rows["filter passes 1 %, new each time, 1 query"], rows["filter passes 1 %, 32 queries"]
    disk = rows[f"batches of {BATCH}, the disk here"]
    return [
        Check("most fsyncs of a batch", batches["most_fsyncs"], 4, at_least=False),
        Check("most fsyncs of a batch, on the disk", disk["most_fsyncs"], 4, at_least=False),
        Check(f"codes/s in durable batches, {fast}", batches["per_s"], 200_000),
        Check(f"single durable adds/s, {fast}", single["per_s"], 500),
        Check(
            "first search of a fresh process, import included, s",
            rows["first search"]["seconds"],
            1.5,
            at_least=False,
        ),
        Check("unfiltered / filtered, 1 query, new filter each time", new["ratio"], 1),
        Check("unfiltered / filtered, 32 queries", one["ratio"], 1),
        Check(f"open {N:,} codes, s", rows["open"]["seconds"], 0.1, at_least=False),
        Check("FAISS / open", rows["open"]["ratio"], 1),
    ]


# ---- reading -------------------------------------------------------------------------------------------


def build(path: Path) -> kh.Codes:
    """An index of N codes, one column of metadata with 100 values; returns the codes."""
    rng = np.random.default_rng(0)
    codes = kh.Codes(rng.integers(0, 2**64, (N, 1), dtype=np.uint64), BITS)
    with kh.Index.create(path, BITS) as index:
        index.add(np.arange(N), codes, {"n": rng.integers(0, 100, N, dtype=np.int8)})
    return codes


def reading(folder: Path, codes: kh.Codes, repeats: int) -> list[Row]:
    path = folder / "large"
    fresh = [first_search(path) for _ in range(repeats + 1)][1:]  # the first one may compile
    imported, opened, searched = (statistics.median(column) for column in zip(*fresh, strict=True))
    import faiss

    flat = faiss.IndexBinaryFlat(BITS)
    flat.add(codes.to_bytes())
    faiss.write_index_binary(flat, str(folder / "flat"))
    del flat
    seconds = interleaved(
        {
            "kinhash": lambda: kh.Index.open(path, read_only=True).close(),
            "faiss": lambda: faiss.read_index_binary(str(folder / "flat")),
        },
        repeats,
    )
    rows = [
        versus("open", seconds["kinhash"], "faiss", seconds["faiss"]),
        {"what": "first search", "seconds": imported + opened + searched,
         "import": imported, "open": opened, "search": searched},
    ]  # fmt: skip
    return rows + filtered(path, repeats)


def first_search(path: Path) -> list[float]:
    command = [sys.executable, "-c", FIRST_SEARCH, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(part) for part in done.stdout.split()]


def filtered(path: Path, repeats: int) -> list[Row]:
    """One search without and with a filter, for a filter that is known and for one that is not."""
    rng = np.random.default_rng(1)
    rows = []
    with kh.Index.open(path, read_only=True) as index:
        for m in (1, 32):
            queries = kh.Codes(rng.integers(0, 2**64, (m, 1), dtype=np.uint64), BITS)
            value = iter(range(50 * (m > 1), 100))
            seconds = interleaved(
                {
                    "plain": lambda q=queries: index.search(q, 10),
                    "known": lambda q=queries: index.search(q, 10, where="n = 42"),
                    "new": lambda q=queries, v=value: index.search(q, 10, where={"n": next(v)}),
                },
                2 * repeats,
            )
            name = f"{m} quer{'y' if m == 1 else 'ies'}"
            rows.append(
                versus(f"filter passes 1 %, {name}", seconds["known"], "unfiltered", seconds["plain"])
            )
            rows.append(
                versus(
                    f"filter passes 1 %, new each time, {name}",
                    seconds["new"],
                    "unfiltered",
                    seconds["plain"],
                )
            )
    return rows


def versus(what: str, ours: float, rival: str, theirs: float) -> Row:
    return {"what": what, "seconds": ours, "rival": rival, "rival_seconds": theirs, "ratio": theirs / ours}


# ---- writing -------------------------------------------------------------------------------------------


def written(folder: Path, batches: int) -> list[Row]:
    """Durable writes on the disk and in memory, each in a process whose fsyncs are counted."""
    memory = Path(tempfile.mkdtemp(prefix="kinhash-index-", dir="/dev/shm"))
    try:
        places = [
            ("the disk here", folder, None),
            ("fsync of 0.2 ms (in memory)", memory, FSYNC_MICROSECONDS),
        ]
        rows = []
        for name, place, microseconds in places:
            variables = fsync_probe.environment(folder, microseconds)
            command = [sys.executable, __file__, "--writes", str(place), str(batches)]
            done = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
            for row in json.loads(done.stdout):
                rows.append({**row, "what": f"{row['what']}, {name}"})
        return rows
    finally:
        shutil.rmtree(memory)


class Sqlite:
    """The rival: what most people would write."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE codes(id INTEGER PRIMARY KEY, code BLOB NOT NULL)")

    def add(self, ids: np.ndarray, codes: kh.Codes) -> None:
        rows = [(name, row.tobytes()) for name, row in zip(ids.tolist(), codes.to_bytes(), strict=True)]
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO codes VALUES (?, ?)", rows)
        self.db.execute("COMMIT")


def durable_writes(folder: Path, batches: int) -> list[Row]:
    """Rounds of ten batches each, the two taking turns; then single adds likewise."""
    count = fsync_probe.Count()
    rng = np.random.default_rng(0)
    codes = kh.Codes(rng.integers(0, 2**64, (BATCH, 1), dtype=np.uint64), BITS)
    rivals = {"kinhash": kh.Index.create(folder / "writes", BITS), "sqlite": Sqlite(folder / "rival.sqlite")}
    rivals["kinhash"].add([-1], codes[:1])  # takes the lock
    fsync = fsync_seconds(folder)
    rows, start = [], 0
    for what, size, calls in ((f"batches of {BATCH}", BATCH, batches), ("single adds", 1, batches)):
        spent, fsyncs = dict.fromkeys(rivals, 0.0), {name: [] for name in rivals}
        for first in range(0, calls, 10):
            for name, rival in rivals.items():
                for call in range(first, min(first + 10, calls)):
                    ids = np.arange(start + call * size, start + (call + 1) * size)
                    before, begun = count.read(), time.perf_counter()
                    rival.add(ids, codes[:size])
                    spent[name] += time.perf_counter() - begun
                    fsyncs[name].append(count.read() - before)
        start += calls * size
        rows.append(
            {
                "what": what,
                "seconds": spent["kinhash"] / calls,
                "per_s": size * calls / spent["kinhash"],
                "fsyncs": statistics.mean(fsyncs["kinhash"]),
                "most_fsyncs": max(fsyncs["kinhash"]),
                "fsync_ms": fsync * 1e3,
                "rival": "sqlite",
                "rival_seconds": spent["sqlite"] / calls,
                "rival_fsyncs": statistics.mean(fsyncs["sqlite"]),
                "ratio": spent["sqlite"] / spent["kinhash"],
            }
        )
    rivals["kinhash"].close()
    return rows


def fsync_seconds(folder: Path, repeats: int = 40) -> float:
    """Median time of an fsync after 16 KiB were appended, as a batch does."""
    block, seconds = os.urandom(16 * BATCH), []
    with open(folder / "fsync", "wb", buffering=0) as file:
        for _ in range(repeats):
            file.write(block)
            seconds.append(timed(lambda: os.fsync(file.fileno())))
    return statistics.median(seconds)


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
