"""Several commands at the same time, each a process of its own with a log, until a time limit."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class _Child:
    name: str
    process: subprocess.Popen[bytes]
    started: float


def run_all(
    commands: Mapping[str, Sequence[str]],
    *,
    processes: int,
    logs: Path,
    expected: Callable[[str], float],
    minutes: float | None = None,
) -> dict[str, str]:
    """Run every command, at most `processes` at a time; returns what became of each: done, failed or left.

    Nothing is started that is not expected to end before `minutes` are over; `expected` is asked again before every
    start, so it may learn from what has finished. Output goes to `logs/<name>.log`. The processors are shared out.
    """
    threads = max(1, (os.cpu_count() or 1) // processes)
    environment = {"OMP_NUM_THREADS": str(threads), **os.environ}
    logs.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    waiting = list(commands)
    running: list[_Child] = []
    fate = dict.fromkeys(commands, "left")

    def fits(name: str) -> bool:
        return minutes is None or time.monotonic() - begin + expected(name) <= 60 * minutes

    try:
        while True:
            ready = next((name for name in waiting if fits(name)), None)
            if ready is not None and len(running) < processes:
                waiting.remove(ready)
                running.append(_started(ready, commands[ready], logs, environment))
                continue
            if not running:
                return fate
            time.sleep(0.1)
            for child in [child for child in running if child.process.poll() is not None]:
                running.remove(child)
                fate[child.name] = _finished(child, logs)
    finally:
        for child in running:
            child.process.terminate()
            child.process.wait()


def _started(name: str, command: Sequence[str], logs: Path, environment: Mapping[str, str]) -> _Child:
    print(f"start  {name}", flush=True)
    with open(logs / f"{name}.log", "ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    return _Child(name, process, time.monotonic())


def _finished(child: _Child, logs: Path) -> str:
    fate = "done" if child.process.returncode == 0 else "failed"
    print(f"{fate:<6} {child.name} after {time.monotonic() - child.started:.0f} s", flush=True)
    if fate == "failed":
        lines = (logs / f"{child.name}.log").read_text(errors="replace").splitlines()
        print("\n".join(f"       {line}" for line in lines[-8:]), flush=True)
    return fate
