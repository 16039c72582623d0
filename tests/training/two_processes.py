"""One of the processes of a run that torchrun started: `torchrun two_processes.py FOLDER`. Each writes what it got."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from safetensors.torch import save_file
from training import toy


def main(folder: Path) -> None:
    options = {"epochs": 3, "batch": 64, "bits": 16, "ema": 0.9, "out": folder / "run", "backbone": "none"}
    encoder = toy.run(**options, optimiser="sgd", lr=0.05, mixup=0.5, test=toy.vectors(64, seed=1))
    tensors = {name: value.contiguous() for name, value in toy.weights(encoder).items()}
    save_file(tensors, folder / f"rank{os.environ.get('RANK', '0')}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
