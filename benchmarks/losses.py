"""SIM, forward and backward: what kinhash does against what PyTorch offers for the same number.

`python benchmarks/losses.py --check` on a GPU: B = 4096, d = 64, against `torch.cdist(p=1)`, in time and memory.
On a CPU: B = 512 and 1024, against `torch.cdist` and against broadcasting. Without --check the result is also written.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS, Check, interleaved, print_rows, verdict, write_result

from kinhash.losses.sim import similarity

GAMMA, RHO = 0.1, 2.0
Way = Callable[[Tensor, Tensor], Tensor]
Run = Callable[[], Tensor]


def formula(D: Tensor, Y: Tensor) -> Tensor:
    """The loss from the distances of the outputs."""
    return ((D / D.mean() - Y / Y.mean()).abs() * (GAMMA / (GAMMA + Y)) ** RHO).mean()


def with_cdist(z: Tensor, Y: Tensor) -> Tensor:
    return formula(torch.cdist(z, z, p=1), Y)


def with_broadcasting(z: Tensor, Y: Tensor) -> Tensor:
    return formula((z[:, None] - z[None]).abs().sum(2), Y)


def ours(z: Tensor, Y: Tensor) -> Tensor:
    if not z.is_cuda:
        return similarity(z, Y, GAMMA, RHO)
    from kinhash.losses import sim_triton

    return sim_triton.similarity(z, Y, GAMMA, RHO)


WAYS: dict[str, Way] = {"kinhash": ours, "cdist": with_cdist, "broadcasting": with_broadcasting}


def problem(B: int, d: int, device: str) -> tuple[Tensor, Tensor]:
    """Near-binary outputs and symmetric target distances with many equal ones, as classes give."""
    draw = torch.Generator().manual_seed(0)
    table = torch.rand(100, 100, generator=draw)
    table = ((table + table.T) / 2).fill_diagonal_(0)
    labels = torch.randint(100, (B,), generator=draw)
    z = torch.tanh(3 * torch.randn(B, d, generator=draw))
    return z.to(device), table[labels][:, labels].contiguous().to(device)


def runs(B: int, d: int, device: str) -> dict[str, Run]:
    """One forward and backward pass each; returns the gradient."""
    z, Y = problem(B, d, device)

    def pass_of(way: Way) -> Run:
        def run() -> Tensor:
            leaf = z.clone().requires_grad_()
            way(leaf, Y).backward()
            assert leaf.grad is not None
            return leaf.grad

        return run

    return {name: pass_of(way) for name, way in WAYS.items()}


def agree(passes: dict[str, Run]) -> float:
    """Largest relative difference of the gradients from that of cdist."""
    reference = passes["cdist"]().double()
    return max(float((run().double() - reference).norm() / reference.norm()) for run in passes.values())


def gpu_seconds(run: Run, repeats: int) -> float:
    """Median time on the device."""
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return statistics.median(times)


def gpu_gigabytes(run: Run) -> float:
    """Memory that one pass takes on top of its inputs."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e9


def on_gpu(B: int, d: int, repeats: int = 20) -> dict[str, Any]:
    """Milliseconds and gigabytes of every way, in turns."""
    passes = runs(B, d, "cuda")
    difference = agree(passes)  # compiles and warms up, too
    row: dict[str, Any] = {"device": "cuda", "B": B, "d": d, "gradient_difference": difference}
    rounds = [{name: gpu_seconds(run, repeats) for name, run in passes.items()} for _ in range(3)]
    for name, run in passes.items():
        row[f"{name}_ms"] = 1000 * statistics.median(each[name] for each in rounds)
        row[f"{name}_gb"] = gpu_gigabytes(run)
    return row


def on_cpu(B: int, d: int, repeats: int = 9) -> dict[str, Any]:
    """Milliseconds of every way, in turns."""
    passes = runs(B, d, "cpu")
    difference = agree(passes)
    seconds = interleaved(passes, repeats=repeats, warm=2)
    times = {f"{name}_ms": 1000 * each for name, each in seconds.items()}
    return {"device": "cpu", "B": B, "d": d, "gradient_difference": difference, **times}


def checks(rows: list[dict[str, Any]]) -> list[Check]:
    """The bars; those of time and memory on a GPU hold for B = 4096."""
    largest = max(row["gradient_difference"] for row in rows)
    found = [Check("largest relative difference of the gradients", largest, 2e-3, at_least=False)]
    for row in rows:
        where = f"SIM, {row['device']}, B = {row['B']}, d = {row['d']}"
        ratios = {name: row[f"{name}_ms"] / row["kinhash_ms"] for name in ("cdist", "broadcasting")}
        if row["device"] == "cpu":
            found.append(Check(f"{where}: times as fast as cdist", ratios["cdist"], 1))
            found.append(Check(f"{where}: times as fast as broadcasting", ratios["broadcasting"], 5))
        elif row["B"] == 4096:
            found.append(Check(f"{where}: GB", row["kinhash_gb"], 0.5, at_least=False))
            found.append(Check(f"{where}: ms, forward and backward", row["kinhash_ms"], 2.5, at_least=False))
            found.append(Check(f"{where}: times as fast as cdist", ratios["cdist"], 15))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="measure and judge, write nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the written result")
    options = parser.parse_args()
    measure, sizes = (on_gpu, (512, 4096)) if torch.cuda.is_available() else (on_cpu, (512, 1024))
    rows = [measure(B, 64) for B in sizes]
    print_rows(rows)
    if not options.check:
        name = f"sim-{rows[0]['device']}"
        packages = ("torch", "triton") if torch.cuda.is_available() else ("torch",)
        print(write_result("losses", name, folder=options.results, packages=packages, rows=rows))
    return verdict(checks(rows))


if __name__ == "__main__":
    sys.exit(main())
