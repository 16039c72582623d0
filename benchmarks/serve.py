"""The server under load: single queries and batches over 10M codes of 64 bits, load tool on the same machine.

`python benchmarks/serve.py --check` prints the figures and exits 1 where one falls short; without --check the loads last
longer, and results/serve/load.json is written. The server runs as `kinhash serve`, the load tool
(`benchmarks/parts/http_load.py`) in a process of its own; both share the processors. The rival is the same server asked
one query at a time; since it waits most of the time, other work on the machine slows it more than the crowd, so that the
crowd is also compared with its fastest tenth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import numpy as np
from measure import Check, print_rows, verdict, write_result

import kinhash as kh

BITS, N, K, TOGETHER = 64, 10_000_000, 10, 32
LOAD = Path(__file__).parent / "parts" / "http_load.py"
Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="shorter loads, and do not write the result")
    options = parser.parse_args()
    seconds = 3.0 if options.check else 10.0
    with tempfile.TemporaryDirectory(prefix="kinhash-serve-") as name:
        folder = build(Path(name) / "large.kin")
        with server(folder) as port:
            rows = measured(port, seconds, rounds=1 if options.check else 3)
    print_rows(rows)
    if not options.check:
        packages = ("starlette", "uvicorn", "httptools", "uvloop")
        config = {"bits": BITS, "n": N, "k": K, "codes": "uniform, stored and asked with", "seconds": seconds}
        print(
            write_result("serve", "load", packages=packages, config=config, rows=rows, metrics=metrics(rows))
        )
    return verdict(checks(metrics(rows)))


def build(folder: Path) -> Path:
    """N uniform codes, whose ids are their numbers, in one segment."""
    rng = np.random.default_rng(0)
    with kh.Index.create(folder, BITS) as index:
        words = rng.integers(0, 2**64, size=(N, 1), dtype=np.uint64)
        index.add(np.arange(N), kh.Codes(words, BITS))
        index.compact()
    return folder


@contextmanager
def server(folder: Path) -> Iterator[int]:
    """The port of `kinhash serve`."""
    command = [sys.executable, "-m", "kinhash.cli", "serve", str(folder), "--port", "0"]
    command[1:3] = ["-c", "from kinhash.cli import main; main()"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        yield int(said.split("http://")[1].split()[0].rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait()


def measured(port: int, seconds: float, rounds: int) -> list[Row]:
    """The median round of every load; the loads take turns."""
    loads = {
        "one at a time": (1, 1, 0),
        "64 at a time": (1, 64, 0),
        "300 a second": (1, 64, 300),
        f"requests of {TOGETHER}": (TOGETHER, 4, 0),
    }
    found: dict[str, list[Row]] = {name: [] for name in loads}
    for _ in range(rounds):
        for name, (queries, connections, rate) in loads.items():
            answer = ask(port, queries, connections, seconds, rate)
            throughput = answer["requests"] * queries / answer["seconds"]
            row = {
                "load": name,
                "connections": connections,
                "queries a request": queries,
                "queries a second": throughput,
            }
            found[name].append(row | {f"{p} ms": answer[p] for p in ("p10", "p50", "p95", "p99")})
    return [sorted(rows, key=lambda row: row["queries a second"])[len(rows) // 2] for rows in found.values()]


def ask(port: int, queries: int, connections: int, seconds: float, rate: float) -> Row:
    words = np.random.default_rng(1).integers(0, 2**64, size=(512 * queries, 1), dtype=np.uint64)
    codes = kh.Codes(words, BITS).hex()
    bodies = [json.dumps({"codes": codes[i : i + queries], "k": K}) for i in range(0, len(codes), queries)]
    arguments = ["127.0.0.1", port, "/api/large/search", connections, seconds, rate]
    command = [sys.executable, str(LOAD), *map(str, arguments)]
    done = subprocess.run(command, input="\n".join(bodies), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def metrics(rows: list[Row]) -> dict[str, float]:
    alone, crowd, steady, batches = rows
    return {
        "single queries a second, 64 at a time": crowd["queries a second"],
        "p95 of single queries, 64 at a time, ms": crowd["p95 ms"],
        "p95 at 300 requests a second, ms": steady["p95 ms"],
        f"queries a second in requests of {TOGETHER}": batches["queries a second"],
        "64 at a time / one at a time at its fastest tenth": crowd["queries a second"]
        * alone["p10 ms"]
        / 1000,
        "64 at a time / one at a time": crowd["queries a second"] / alone["queries a second"],
    }


def checks(found: dict[str, float]) -> list[Check]:
    bars = (300, 100, 100, 1500, 4, 4)
    return [
        Check(name, value, bar, "p95" not in name)
        for (name, value), bar in zip(found.items(), bars, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(main())
