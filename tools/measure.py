"""What every benchmark and experiment shares: fair timing, one shape of result, one kind of verdict.

Scripts find it with `sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))`.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
_CODE = (
    "src",
    "tools",
    "benchmarks",
    "experiments",
)  # a run that has written a result has changed nothing here


def interleaved(
    runs: Mapping[str, Callable[[], object]], repeats: int = 5, warm: int = 1
) -> dict[str, float]:
    """Median seconds of each run; the rivals take turns, so a noisy neighbour hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(warm + repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn >= warm:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def hardware() -> str:
    """The processor, its core count, the memory, and the GPU where torch sees one."""
    model = platform.processor() or platform.machine()
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    level = (
        "AVX-512 VPOPCNTDQ"
        if any("avx512_vpopcntdq" in line for line in _lines("/proc/cpuinfo"))
        else "no VPOPCNTDQ"
    )
    memory = next(
        (int(line.split()[1]) / 2**20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0
    )
    text = f"{model} ({level}), {os.cpu_count()} cores, {memory:.0f} GiB"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        text += f", {torch.cuda.get_device_name()}"
    return text


def versions(*packages: str) -> dict[str, str]:
    """Python and the installed versions of `packages`."""
    found = {"python": platform.python_version()}
    for package in ("numpy", "numba", *packages):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "absent"
    return found


def commit() -> str:
    """The commit that is measured; `-dirty` where code differs, $KINHASH_COMMIT where there is no git."""
    if "KINHASH_COMMIT" in os.environ:
        return os.environ["KINHASH_COMMIT"]
    name = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *_CODE)
    return (name or "unknown") + ("-dirty" if changed else "")


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be given anywhere: folders of this machine are DIR, that of the results is left out."""
    kept, skip = [Path(arguments[0]).resolve().relative_to(ROOT).as_posix()], False
    for argument in arguments[1:]:
        if not skip and not argument.startswith("--results"):
            kept.append("DIR" if argument.startswith(("/", "..")) else argument)
        skip = argument == "--results"
    return " ".join(kept)


def provenance(*packages: str) -> dict[str, Any]:
    """What was measured, when and where."""
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "hardware": hardware(),
        "versions": versions(*packages),
    }


def write_result(
    topic: str,
    name: str,
    *,
    packages: Sequence[str] = (),
    folder: Path = RESULTS,
    **parts: Any,
) -> Path:
    """Write `results/<topic>/<name>.json`; `parts` are config, protocol, seconds, metrics, rows as they apply."""
    card = {"script": command_line(sys.argv), **provenance(*packages), **parts}
    path = folder / topic / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(card, indent=1) + "\n")
    return path


@dataclass(frozen=True)
class Check:
    """One figure against its bar; `at_least` says on which side of the bar it must lie."""

    what: str
    value: float
    bar: float
    at_least: bool = True

    @property
    def passed(self) -> bool:
        return self.value >= self.bar if self.at_least else self.value <= self.bar


def verdict(checks: Sequence[Check]) -> int:
    """Print every check, the one passed last being the headline, and return the exit status: 1 if any fell short."""
    for check in checks:
        sign = ">=" if check.at_least else "<="
        word = "ok  " if check.passed else "FAIL"
        print(f"{word} {check.what}: {check.value:.4g} (bar {sign} {check.bar:g})")
    return 0 if all(check.passed for check in checks) else 1


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """A line for every row, floats with four digits."""
    for row in rows:
        shown = (f"{value:.4g}" if isinstance(value, float) else value for value in row.values())
        print(", ".join(f"{key} {value}" for key, value in zip(row, shown, strict=True)))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
