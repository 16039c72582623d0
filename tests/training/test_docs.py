"""Every example of docs/training.md runs, in its order, on made-up data of the shape that it speaks of."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import click
import numpy as np
import pytest
from pages import command, page, run_in_order
from PIL import Image
from vector_files import write_vectors

from kinhash.cli import cli
from kinhash.codes import Codes

PAGE = page("training")
MEANT = {
    "hamster": "hamster.n.01",
    "lawn mower": "lawn_mower.n.01",
    "otter": "otter.n.02",
    "piano": "piano.n.01",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    lines = ["path,label,caption"]
    for c, name in enumerate(MEANT):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for i in range(4):
            values = 60 * c + rng.integers(0, 60, (40, 50, 3))
            Image.fromarray(values.astype(np.uint8)).save(tmp_path / "photos" / name / f"{i}.jpg")
            lines.append(f"photos/{name}/{i}.jpg,{name},a {name}")
    (tmp_path / "list.csv").write_text("\n".join(lines))
    (tmp_path / "captions.csv").write_text(
        "\n".join(f"{line.rsplit(',', 2)[0]},{line.rsplit(',')[2]}" for line in lines)
    )
    np.save(tmp_path / "captions.npy", rng.normal(size=(16, 6)))
    write_vectors(tmp_path / "vectors", range(4), train=64, test=40, width=8)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.timeout(600)
def test_every_example_runs_in_order(place: Path) -> None:
    for package in ("efficientnet_lite_pytorch", "onnxruntime"):
        pytest.importorskip(package, reason="needs the extras weights-lite and onnx")
    names = run_in_order("training", shell)
    assert names["codes"].shape == (40, 16)  # type: ignore[attr-defined]  # the last example: 128 bits are 16 bytes
    assert Codes.from_bytes(names["codes"], 128) == Codes.load("vectors-codes")  # type: ignore[arg-type]
    assert len(names["one"]) == 1  # type: ignore[arg-type]


def shell(line: str) -> None:
    """A line of the page, and what a person does after some."""
    if line == "ls photos > names.txt":
        Path("names.txt").write_text("".join(f"{path.name}\n" for path in sorted(Path("photos").iterdir())))
        return
    command(line)
    if "suggest" in line:
        choose(Path("names.senses.csv"))


def choose(path: Path) -> None:
    """What a person does to the table."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["choice"] = "x" if row["synset"] == MEANT[row["name"]] else ""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_every_option_that_the_page_names_exists() -> None:
    known = {"--help", "--json", "--nproc-per-node", "--no-python"}
    for name in ("train", "encode", "evaluate", "export"):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.help
        for option in command.params:
            known |= set(option.opts)
            assert (
                isinstance(option, click.Argument) or getattr(option, "help", None) or option.show_default
            ), option  # type: ignore[attr-defined]
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known
