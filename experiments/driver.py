"""The command line that all experiments share: which runs, how many at a time, where results go."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run import Run, changed, chosen, parsed_options
from scores import score
from side_by_side import run_all
from train_one import trained

from kinhash.data.splits import Dataset

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import RESULTS, ROOT, write_result

_UNTIMED = 25.0  # seconds around a training: start, encoding, scoring

Table = Callable[[Sequence[int]], list[Run]]
# a run and its data -> the data to train on, and the arguments of kh.train besides the semantics
Prepare = Callable[[Run, argparse.Namespace, Dataset], tuple[Dataset, dict[str, Any]]]

Complete = Callable[["Experiment", Run, argparse.Namespace], None]


def as_it_is(run: Run, options: argparse.Namespace, data: Dataset) -> tuple[Dataset, dict[str, Any]]:
    """Nothing to prepare."""
    return data, run.train_arguments()


@dataclass(frozen=True)
class Experiment:
    """Tables over datasets of one kind."""

    script: str  # as in "experiments/cifar100.py"
    about: str
    datasets: Sequence[str]  # the first is the default
    tables: Mapping[str, Table]  # the first is the default
    load: Callable[[argparse.Namespace], Dataset]
    semantics: Callable[[argparse.Namespace, Dataset], Mapping[str, Any]]
    add_options: Callable[[argparse.ArgumentParser], object] = lambda parser: None
    prepare: Prepare = as_it_is
    # the folder of its results
    topic: Callable[[argparse.Namespace], str] = lambda options: str(options.data)
    train_database: bool = True  # whether the training pictures are searched as well
    complete: Complete | None = None  # what is done with a run, where it is not the usual


def main(experiment: Experiment, arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; 1 where a run failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parse(experiment, given)
    runs = requested(experiment, options)
    topic = experiment.topic(options)
    if options.list:
        for run in runs:
            print(f"{'done ' if result_of(run, topic, options).exists() else 'to do'} {run.name}")
        return 0
    if options.one:
        (experiment.complete or complete)(experiment, runs[0], options)
        return 0
    waiting = [run for run in runs if not result_of(run, topic, options).exists()]
    print(f"{len(runs)} runs, {len(runs) - len(waiting)} of them done before", flush=True)
    if waiting:
        experiment.load(options)  # prepared once, before many processes want it
    fates = run_all(
        {run.name: [sys.executable, sys.argv[0], *given, "--one", run.name] for run in waiting},
        processes=options.processes,
        logs=options.work / topic / "logs",
        expected=clock(waiting, topic, options),
        minutes=options.minutes,
    )
    for fate in ("left", "failed"):
        names = [name for name, what in fates.items() if what == fate]
        if names:
            print(f"{fate}: {', '.join(names)}", flush=True)
    return 1 if "failed" in fates.values() else 0


def parse(experiment: Experiment, arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=experiment.about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--table", choices=[*experiment.tables, "all"], default=next(iter(experiment.tables)))
    add("--root", type=Path, help="folder of the data")
    add("--data", choices=experiment.datasets, default=experiment.datasets[0])
    add("--processes", type=int, default=1, help="runs at the same time")
    add("--epochs", type=int, help="for every run, instead of the table's")
    add("--seeds", type=int, nargs="+", default=[0])
    add("--backbone", help="for every run, instead of the table's")
    add("--set", dest="options", nargs="+", default=[], metavar="NAME=VALUE", help="options of kh.train")
    add("--variant", default="", help="name for the results of changed options")
    add("--only", default="*", metavar="PATTERN", help="runs whose name fits, as in '*class*'")
    add("--minutes", type=float, help="start no run that would not finish within so many minutes")
    add("--results", type=Path, default=RESULTS, help="folder of the results")
    add("--work", type=Path, default=ROOT / "runs" / "experiments", help="folder of everything else")
    add("--device", help="cpu, cuda, cuda:1 ... (default: a GPU where there is one)")
    add("--train-only", action="store_true", help="leave the scoring to a later call")
    add("--list", action="store_true", help="say what there is to do, and end")
    add("--one", help=argparse.SUPPRESS)  # what a child process is told
    experiment.add_options(parser)
    return parser.parse_args(arguments)


def requested(experiment: Experiment, options: argparse.Namespace) -> list[Run]:
    """The runs of the table, with what the command line changes."""
    names = list(experiment.tables) if options.table == "all" else [options.table]
    runs = changed(
        [run for name in names for run in experiment.tables[name](options.seeds)],
        epochs=options.epochs,
        backbone=options.backbone,
        options=parsed_options(options.options),
        variant=options.variant,
    )
    return chosen(runs, options.one or options.only)


def complete(experiment: Experiment, run: Run, options: argparse.Namespace) -> None:
    """Train and score one run; write its result."""
    data = experiment.load(options)
    semantics = experiment.semantics(options, data)
    topic = experiment.topic(options)
    data, arguments = experiment.prepare(run, options, data)
    outputs = trained(
        run,
        data,
        {"semantics": semantics[run.semantics], **arguments},
        options.work / topic / run.name,
        device=options.device,
        processes=options.processes,
    )
    if outputs is None or options.train_only:
        return
    shown = {name: one.take(list(data.test.classes)) for name, one in semantics.items()}
    parts = score(outputs, shown, train_database=experiment.train_database)
    command = f"{experiment.script} --table {options.table} --data {options.data} --only {run.name}"
    card = {**outputs.card, "script": command, **parts}
    print(write_result(topic, run.name, folder=options.results, **card))


def result_of(run: Run, topic: str, options: argparse.Namespace) -> Path:
    """What there will be when the run is finished: its result, or its outputs where scoring comes later."""
    if options.train_only:
        return Path(options.work) / topic / run.name / "outputs.json"
    return Path(options.results) / topic / f"{run.name}.json"


def clock(runs: Sequence[Run], topic: str, options: argparse.Namespace) -> Callable[[str], float]:
    """Expected seconds of a run: from the slowest finished one of its backbone, else from the table's guess."""
    by_name = {run.name: run for run in runs}

    def expected(name: str) -> float:
        run = by_name[name]
        found = [json.loads(path.read_text()) for path in (Path(options.work) / topic).glob("*/outputs.json")]
        paces = [
            card["seconds"]["train"] / card["config"]["epochs"]
            for card in found
            if card["config"]["backbone"] == run.backbone
        ]
        pace = max(paces, default=run.seconds_per_epoch * options.processes)
        return _UNTIMED + 1.05 * pace * run.epochs

    return expected
