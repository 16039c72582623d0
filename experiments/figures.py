"""Figures from stored results: hierarchical precision of floats against that of codes.

python experiments/figures.py                      # every ablation: results/cifar100/hp-wup.png, hp-lcs.png
python experiments/figures.py --only 'sim-kl-class-resnet110w-*bits*'
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from kinhash.plots import plot_curves
from kinhash.report import Report

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS

TITLES = {"wup": "Wu-Palmer similarity in WordNet", "lcs": "LCS height in the CIFAR-100 tree"}


def reports_of(result: dict[str, Any]) -> list[Report]:
    """The two curves of a result, floats and codes, as reports that can be drawn."""
    config = result["config"]
    name = config["method"].upper() + (f", {config['variant']}" if "variant" in config else "")
    found = []
    for kind in ("float", "bin"):
        curves = {
            key.removesuffix(f"_{kind}"): np.array(curve)
            for key, curve in result["curves"].items()
            if key.endswith(f"_{kind}")
        }
        protocol = {"representation": kind, "bits": config["bits"], "similarity": TITLES}
        found.append(Report(name, protocol, {}, curves))
    return found


def draw(results: Sequence[dict[str, Any]], folder: Path, stem: str = "hp") -> list[Path]:
    """One picture per similarity, all results in each."""
    reports = [report for result in results for report in reports_of(result)]
    paths = []
    for similarity in sorted({curve.removeprefix("hp_") for report in reports for curve in report.curves}):
        paths.append(folder / f"{stem}-{similarity}.png")
        plot_curves(reports, paths[-1], similarity=similarity)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS / "cifar100")
    parser.add_argument("--only", default="*-64bits-*epochs-*seed0", metavar="PATTERN")
    parser.add_argument("--stem", default="hp", help="first part of the file names")
    options = parser.parse_args()
    paths = [path for path in sorted(options.results.glob("*.json")) if fnmatch(path.stem, options.only)]
    if not paths:
        print(f"no result in {options.results} fits {options.only!r}")
        return 1
    for path in draw([json.loads(path.read_text()) for path in paths], options.results, options.stem):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
