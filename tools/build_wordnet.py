"""Builds `wordnet30.npz`, the nouns of WordNet 3.0 as kinhash carries them, from a WordNet `dict` folder.

    python tools/build_wordnet.py /usr/share/wordnet

The folder holds `data.noun` and `index.noun` (Debian packages `wordnet-base` and `wordnet-sense-index`, or any copy of
the 3.0 database). Each line is read by its own offset field, so files with CRLF line ends give the same result.
The output is the same byte for byte for the same input.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "kinhash" / "meaning" / "resources"


def read_lines(path: Path) -> list[str]:
    """The lines of a database file without the licence that stands, indented, at its top."""
    return [line.rstrip() for line in path.read_text("ascii").splitlines() if not line.startswith(" ")]


def read_senses(folder: Path) -> dict[tuple[str, int], int]:
    """(lemma, offset) -> number of the sense, from 1, in the order of `index.noun` (most frequent first)."""
    senses = {}
    for line in read_lines(folder / "index.noun"):
        fields = line.split()
        count = int(fields[2])
        for number, offset in enumerate(fields[-count:], start=1):
            senses[fields[0], int(offset)] = number
    return senses


def read_synset(line: str) -> tuple[int, list[str], list[int], list[bool], str]:
    """Offset, lemmas, offsets of the hypernyms, which of those are instance hypernyms, gloss."""
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    words = int(fields[3], 16)
    pointers = fields[5 + 2 * words :]
    up = [
        (int(pointers[i + 1]), pointers[i] == "@i")
        for i in range(0, 4 * int(fields[4 + 2 * words]), 4)
        if pointers[i] in ("@", "@i")
    ]
    lemmas = fields[4 : 4 + 2 * words : 2]
    return (
        int(fields[0]),
        lemmas,
        [offset for offset, _ in up],
        [instance for _, instance in up],
        gloss.strip(),
    )


def build(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of the resource; the synsets stand in the order of their offsets."""
    senses = read_senses(folder)
    rows = sorted(read_synset(line) for line in read_lines(folder / "data.noun"))
    place = {row[0]: position for position, row in enumerate(rows)}
    numbers = [senses[lemma.lower(), row[0]] for row in rows for lemma in row[1]]
    first = np.cumsum([0] + [len(row[1]) for row in rows])[:-1]
    names = [f"{row[1][0].lower()}.n.{numbers[start]:02d}" for row, start in zip(rows, first, strict=True)]
    rank = np.empty(len(rows), np.int32)
    rank[sorted(range(len(rows)), key=names.__getitem__)] = np.arange(len(rows))
    return {
        "offset": np.array([row[0] for row in rows], np.int32),
        "parent_count": np.array([len(row[2]) for row in rows], np.uint8),
        "parent": np.array([place[offset] for row in rows for offset in row[2]], np.int32),
        "instance": np.array([flag for row in rows for flag in row[3]], np.bool_),
        "rank": rank,
        "sense": np.array(numbers, np.uint8),
        "lemmas": np.frombuffer("\n".join(" ".join(row[1]) for row in rows).encode(), np.uint8),
        "glosses": np.frombuffer("\n".join(row[4] for row in rows).encode(), np.uint8),
    }


def main() -> None:
    """Write the resource and say how large it is."""
    parser = argparse.ArgumentParser(description="Build the bundled WordNet resource.")
    parser.add_argument("folder", type=Path, help="folder with data.noun and index.noun of WordNet 3.0")
    parser.add_argument("--out", type=Path, default=TARGET / "wordnet30.npz")
    options = parser.parse_args()
    arrays = build(options.folder)
    np.savez_compressed(options.out, **arrays)
    print(f"{options.out}: {len(arrays['offset'])} synsets, {options.out.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
