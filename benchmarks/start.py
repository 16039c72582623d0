"""How long `import kinhash` and `kinhash --help` take, each in a fresh process, beside Python's own start.

`python benchmarks/start.py --check` prints the figures and exits 1 where one is over its bar; without --check they are
also written to results/metrics/start.json.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import Check, interleaved, verdict, write_result

COMMANDS = {
    "python alone": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import kinhash": ["-c", "import kinhash"],
    "kinhash --help": [
        "-c",
        "import sys; sys.argv = ['kinhash', '--help']; from kinhash.cli import main; main()",
    ],
}


def starter(arguments: Sequence[str]) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write the result")
    written = not parser.parse_args().check
    seconds = interleaved(
        {name: starter(arguments) for name, arguments in COMMANDS.items()}, repeats=9, warm=2
    )
    for name, value in seconds.items():
        print(f"{name}: {value * 1e3:.0f} ms")
    if written:
        rows = [{"what": name, "seconds": value} for name, value in seconds.items()]
        print(write_result("metrics", "start", packages=("click",), rows=rows))
    return verdict(
        [
            Check("kinhash --help, s", seconds["kinhash --help"], 0.3, at_least=False),
            Check("import kinhash, s", seconds["import kinhash"], 0.2, at_least=False),
            Check("import numpy / import kinhash", seconds["import numpy"] / seconds["import kinhash"], 1),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
