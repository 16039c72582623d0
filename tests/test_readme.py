"""README.md holds: its tables (and those of docs/search.md) are the results', its Python runs, its commands exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import build_results
import marked_tables
import pytest
import readme_tables
from click.testing import CliRunner
from duels import duels
from experiments.made_up import card
from few_pictures import make_small
from result_files import Result, read_results
from shortfalls import shortfalls

import kinhash as kh
from kinhash.cli import cli

ROOT = build_results.ROOT
TEXT = (ROOT / "README.md").read_text()
[CODE] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_tables_are_those_of_the_results() -> None:
    pages = build_results.pages(ROOT)
    for name, tables in build_results.DOCUMENTS.items():
        text = (ROOT / name).read_text()
        assert pages[ROOT / name] == text, f"run `python tools/build_results.py` and commit {name}"
        assert marked_tables.names(text) == set(tables)


def run_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(compile(CODE, "README.md", "exec"), names)
    names["index"].close()
    return names


def test_the_ten_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """As printed, but with little: few pictures, a small network of random weights, two epochs."""
    make_small(monkeypatch)
    names = run_code(tmp_path, monkeypatch)
    assert names["hits"].distances[0, 0] == 0
    assert len(names["hits"].ids[0]) == 10
    assert "mAHP@250" in capsys.readouterr().out
    assert kh.load_encoder("encoder").encode(names["data"].test) == names["codes"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_ten_lines_run_exactly_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_code(tmp_path, monkeypatch)
    report = kh.evaluate(names["codes"], names["data"].test.labels, semantics=names["kin"])
    assert report["mahp_sim"] > 0.8


def test_commands_extras_and_files_that_it_names_exist() -> None:
    for command in set(re.findall(r"`kinhash ([a-z][a-z ]*)`", TEXT)):
        done = CliRunner().invoke(cli, [*command.split(), "--help"])
        assert done.exit_code == 0, command
    for target in set(re.findall(r"make (\w+)(?=`|    #)", TEXT)):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text(), target
    listed = re.search(r"Extras bring the rest: (.*?)\. The\s", TEXT, re.DOTALL)
    assert listed is not None
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"`([a-z-]+)`", listed[1])) == set(extras) - {"bench", "dev"}
    for name in set(re.findall(r"[`(]((?:docs/)?[\w-]+\.(?:md|png))[`)]", TEXT)):
        assert (ROOT / name).is_file(), name


def result(topic: str, name: str = "a", **content: Any) -> Result:
    base = {"script": "s", "commit": "c", "date": "d", "hardware": "h", "versions": {"python": "3"}}
    return Result(topic, name, base | content)


def test_a_table_without_files_says_so() -> None:
    text = "<!-- measured: search -->\nold\n<!-- end -->\nrest"
    filled = marked_tables.filled(text, readme_tables.TABLES, [])
    assert filled.startswith("<!-- measured: search -->\nNot measured yet")
    assert filled.endswith("\n<!-- end -->\nrest")
    for tables in build_results.DOCUMENTS.values():
        for table in tables.values():
            assert table([]).startswith("Not measured yet")


def test_every_headline_is_measured() -> None:
    results = read_results(ROOT / "results")
    text = readme_tables.TABLES["search"](results)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(readme_tables.HEADLINES)
    assert len(set(rows)) == len(rows)


def test_a_headline_shows_the_fastest_rival_or_the_one_it_names() -> None:
    case = {"n": 50_000_000, "bits": 64, "k": 10, "batch": 200, "what": "random queries, headline"}
    times = {"multi-index": 0.5, "scan": 1.0, "faiss": 2.0}
    rows = [case | {"engine": engine, "seconds": seconds} for engine, seconds in times.items()]
    text = readme_tables.TABLES["search"]([result("search", "multi-index", rows=rows)])
    assert "| 500 ms | FAISS: 2 s | 4 |" in text
    assert "| 500 ms | our scan: 1 s | 2 |" in text
    opened = [{"what": "open", "seconds": 0.5, "rival": "slow", "rival_seconds": 1.0}]
    opened += [opened[0] | {"rival": "faiss", "rival_seconds": 0.75}]
    text = readme_tables.TABLES["search"]([result("search", "index", rows=opened)])
    assert "| index on disk, open it | 500 ms | FAISS: 750 ms | 1.5 |" in text


@pytest.mark.parametrize(
    "rows",
    [
        [{"N": 10, "engine": "kinhash", "seconds": 0.5}, {"N": 10, "engine": "FAISS", "seconds": 1.0}],
        [{"N": 10, "kinhash_ms": 500.0, "FAISS_ms": 1000.0, "bare_ms": 1.0}],
        [{"N": 10, "seconds": 0.5, "rival": "FAISS", "rival_seconds": 1.0}],
    ],
)
def test_rivals_are_paired_by_their_case(rows: list[dict[str, Any]]) -> None:
    lonely = [{"N": 20, "engine": "kinhash", "seconds": 0.5}]
    [duel] = duels(result("search", "flat", rows=rows + lonely))
    assert (duel.case, duel.ours, duel.rivals) == ({"N": 10}, 0.5, {"FAISS": 1.0})


def test_every_engine_has_its_best_threads_and_batches_are_shared_out() -> None:
    rows = [
        {"batch": 4, "engine": engine, "threads": threads, "seconds": seconds}
        for engine, threads, seconds in (
            ("kinhash", 1, 4.0),
            ("kinhash", 2, 2.0),
            ("FAISS", 1, 4.0),
            ("FAISS", 2, 80.0),
        )
    ]
    for name, share in (("gpu", 4), ("flat", 1)):
        [duel] = duels(result("search", name, rows=rows))
        assert (duel.ours, duel.rivals["FAISS"]) == (2.0 / share, 4.0 / share)


def test_a_missed_bar_is_named_and_a_reached_one_is_not() -> None:
    metrics = {
        "batch 1, FAISS at its best / kinhash": 2.1,
        "batch 32, FAISS / kinhash": 16.0,
        "128 bits, batch 32, FAISS / kinhash": 9.5,
        "256 bits, batch 32, FAISS / kinhash": 7.5,
        "batch 1000, two threads / one": 1.9,
    }
    text = shortfalls([result("search", "flat", metrics=metrics)])
    assert text.splitlines()[2:] == [
        "| batches of 32 over codes of 128 bits, times as fast as FAISS | ≥ 10 | 9.5 |"
    ]
    metrics["128 bits, batch 32, FAISS / kinhash"] = 10.5
    slow = result(
        "training",
        "step-cuda",
        rows=[{"backbone": "resnet110w", "off_ms": 40.0, "graph_ms": 37.0, "compile_ms": 26.1}],
    )
    text = shortfalls([result("search", "flat", metrics=metrics), slow])
    assert text.splitlines()[2:] == [
        "| a training step of ResNet-110w on an H200, 512 pictures, ms | ≤ 15 | 26.1 |"
    ]
    assert shortfalls([result("search", "flat", metrics=metrics)]) == "Every bar is reached."


def test_the_paper_stands_beside_us() -> None:
    results = [
        Result("cifar100", str(i), one) for i, one in enumerate([card(), card(backbone="wrn28-10", wup=0.95)])
    ]
    lines = readme_tables.TABLES["cifar100"](results).splitlines()
    assert lines[2].startswith("| SIM-KL-CLASS, resnet110w, 100 epochs, 59 s | .9010 | .9000 |")
    assert lines[2].endswith("| .8916 / .8608 | .6512 | .7199 |")
    assert lines[3].startswith("| SIM-KL-CLASS, wrn28-10, 100 epochs, 59 s | .9510 |")
