"""Builds the sample of CIFAR-100 that ships with the package: the first pictures of every class, bytes unchanged.

    python tools/build_sample.py FOLDER

FOLDER holds CIFAR-100 in the Hugging Face layout (`train-*.parquet`, `test-*.parquet`); the sample has the same
layout, so the same reader takes both. 22 training and 10 test pictures of each of the 100 classes make 5.7 MB.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TARGET = Path(__file__).parents[1] / "src" / "kinhash" / "data" / "resources" / "cifar100-sample"
PER_CLASS = {"train": 22, "test": 10}


def first_of_every_class(table: pa.Table, count: int) -> pa.Table:
    """The first `count` rows of every `fine_label`, in the order of the table."""
    labels = table.column("fine_label").to_numpy()
    rows = np.concatenate([np.flatnonzero(labels == label)[:count] for label in np.unique(labels)])
    return table.take(np.sort(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the bundled sample of CIFAR-100.")
    parser.add_argument("folder", type=Path, help="folder with train-*.parquet and test-*.parquet")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for split, count in PER_CLASS.items():
        whole = pa.concat_tables(
            pq.read_table(path) for path in sorted(options.folder.glob(f"{split}-*.parquet"))
        )
        sample = first_of_every_class(whole, count).replace_schema_metadata(None)
        path = options.out / f"{split}-00000-of-00001.parquet"
        pq.write_table(sample, path, compression="zstd", compression_level=19)
        print(f"{path}: {len(sample)} pictures, {path.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
