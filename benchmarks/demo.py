"""The demo as a user runs it, in a fresh process: how long it takes, and by how much training wins.

`python benchmarks/demo.py --check` prints the figures and exits 1 where one is past its bar; without --check they are
also written to results/demo/sample.json, and the picture of the searches to docs/searches.png.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import ROOT, Check, verdict, write_result

BARS = {"mahp_wup": 0.10, "mahp_lcs": 0.20, "map_full": 0.10}  # trained head - random hyperplanes
TITLES = {"mahp_wup": "mAHP@250, WUP", "mahp_lcs": "mAHP@250, LCS", "map_full": "mAP, whole ranking"}
SECONDS = 240.0  # on two cores; installing takes the rest of five minutes
PICTURE = ROOT / "docs" / "searches.png"


def run(out: Path) -> tuple[float, dict[str, Any]]:
    """Seconds from start to end, and what the demo wrote down."""
    start = time.perf_counter()
    command = "import sys; sys.argv[0] = 'kinhash'; from kinhash.cli import main; main()"
    subprocess.run([sys.executable, "-c", command, "demo", "--out", str(out)], check=True)
    return time.perf_counter() - start, json.loads((out / "demo.json").read_text())


def shrink(source: Path, target: Path) -> None:
    """The same picture with 96 colours: a third of the bytes."""
    with Image.open(source) as picture:
        picture.quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write the result")
    written = not parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        seconds, card = run(Path(folder) / "out")
        if written:
            shrink(Path(folder) / "out" / "searches.png", PICTURE)
    margins = {metric: values for metric, values in card["margins"].items() if metric in BARS}
    if written:
        rows = [
            {"what": TITLES[metric], "trained": trained, "hyperplanes": plain}
            for metric, (trained, plain) in margins.items()
        ]
        config = {"bits": card["bits"], "seed": card["seed"]}
        steps = {"whole": seconds, **card["seconds"]}
        print(write_result("demo", "sample", packages=["torch"], config=config, seconds=steps, rows=rows))
    checks = [Check("seconds of the whole demo", seconds, SECONDS, at_least=False)]
    checks += [
        Check(f"{TITLES[metric]}: trained - random hyperplanes", trained - plain, BARS[metric])
        for metric, (trained, plain) in margins.items()
    ]
    trained, plain = margins["map_full"]
    checks.append(Check("mAP, trained / random hyperplanes", trained / plain, 2))
    return verdict(checks)


if __name__ == "__main__":
    sys.exit(main())
