"""Builds the class tables inside the package from lists of names and ids.

    python tools/build_class_tables.py FOLDER TINY

FOLDER holds `cifar100_wordnet30.csv`, `cifar.parent-child.txt`, `cifar100.class_names.txt`, `ilsvrc2012_wnids.txt` and
`imagenet21k_wnids.txt`; TINY is the `wnids.txt` of Tiny-ImageNet. Ids are kept sorted, as differences: the order of
class numbers in all three sets is the order of their ids.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
from kinhash.meaning.wordnet import load_wordnet

TARGET = ROOT / "src" / "kinhash" / "meaning" / "resources"


def build_ids(path: Path) -> np.ndarray:
    """Sorted offsets of a list of wnids, as differences."""
    offsets = sorted(int(wnid[1:]) for wnid in path.read_text().split())
    assert len(set(offsets)) == len(offsets), f"{path}: an id occurs twice"
    return np.diff(offsets, prepend=0).astype(np.int32)


def build_table(path: Path) -> list[tuple[str, str, str]]:
    """(name, synset, wnid) of the classes of CIFAR-100, in the order of their numbers."""
    wordnet = load_wordnet()
    with path.open(newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: int(row["class_id"]))
    synsets = [wordnet.synset(row["wnid_wordnet3.0"]) for row in rows]
    for row, synset in zip(rows, synsets, strict=True):
        assert row["synset_lemma"] in map(str.lower, synset.lemmas), row
    return [(row["class_name"], synset.name, synset.wnid) for row, synset in zip(rows, synsets, strict=True)]


def build_tree(folder: Path) -> list[str]:
    """`parent child` lines with names in place of numbers."""
    names = dict(line.split() for line in (folder / "cifar100.class_names.txt").read_text().splitlines())
    assert len(set(names.values())) == len(names), "two nodes share a name"
    edges = [line.split() for line in (folder / "cifar.parent-child.txt").read_text().splitlines()]
    return [f"{names[parent]} {names[child]}" for parent, child in edges]


def main() -> None:
    """Write the three resources."""
    folder, tiny = Path(sys.argv[1]), Path(sys.argv[2])
    np.savez_compressed(
        TARGET / "wnids.npz",
        **{
            "ilsvrc2012": build_ids(folder / "ilsvrc2012_wnids.txt"),
            "imagenet21k": build_ids(folder / "imagenet21k_wnids.txt"),
            "tiny-imagenet": build_ids(tiny),
        },
    )
    rows = [("name", "synset", "wnid"), *build_table(folder / "cifar100_wordnet30.csv")]
    (TARGET / "cifar100.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (TARGET / "cifar100-tree.txt").write_text("\n".join(build_tree(folder)) + "\n")


if __name__ == "__main__":
    main()
