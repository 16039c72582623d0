"""Classes of which no picture was seen in training, under two protocols that are never mixed.

    python experiments/zeroshot.py --table folds --root DIR --train-only --processes 3    # to choose settings with
    python experiments/zeroshot.py --table final --root DIR --train-only --processes 3 --seeds 0 1 2
    python experiments/zeroshot.py --table folds --root DIR                               # the same without --train-only
    python experiments/zeroshot.py --table final --root DIR --seeds 0 1 2                 # scores them, on a CPU
    python experiments/zeroshot.py --data folder --root DIR --seen FILE --unseen FILE     # ImageNet-21k, for example

DIR holds Tiny-ImageNet: 120 of its 160 classes are seen (`tiny_imagenet_split.json`). `class-code`: no picture of an unseen
class is known, it is placed by its gloss or by the hierarchy; all methods build on the same features, those of CLASS.
`retrieval`: labelled pictures of the unseen classes (their training part) are searched by others (their validation part).
Settings are chosen on three folds of the seen classes, each with networks that have not seen the fold.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import driver
import numpy as np
import zeroshot_codes
import zeroshot_data
from run import Run, with_seeds
from zeroshot_outputs import UNSEEN, WITH_FEATURES, PartOutputs, trained_parts
from zeroshot_retrieval import retrieval
from zeroshot_split import FOLDS, WnidSplit

import kinhash as kh
from kinhash.files import replace_file

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from measure import write_result

METHODS = ("class", "sim-kl-class", "sim-kl-reg")
KL_WEIGHTS = (0.0001, 0.01)  # tried on the folds besides the recipe's .001
SHAPE = {"crop": 8, "cutout": 20, "randaugment": 2, "batch": 256}  # 64 pixels, few pictures
_FIT = "train"


def final(seeds: Sequence[int] = (0,)) -> list[Run]:
    """All seen classes."""
    return with_seeds([_run(method) for method in METHODS], seeds)


def folds(seeds: Sequence[int] = (0,)) -> list[Run]:
    """Without a fold of the seen classes, which stands in for the unseen ones."""
    runs = [_run(method) for method in METHODS[:2]]
    runs += [_run("sim-kl-class", f"kl{weight:g}", kl_weight=weight) for weight in KL_WEIGHTS]
    return with_seeds([_of_fold(run, fold) for run in runs for fold in range(FOLDS)], seeds)


def _run(method: str, variant: str = "", **options: Any) -> Run:
    shape = {**SHAPE, **options}
    return Run(method, "wrn16-4", epochs=100, variant=variant, options=shape, seconds_per_epoch=0.5)


def _of_fold(run: Run, fold: int) -> Run:
    variant = "-".join(part for part in (f"fold{fold}", run.variant) if part)
    return replace(run, variant=variant, options={**run.options, "fold": fold})


def complete(experiment: driver.Experiment, run: Run, options: argparse.Namespace) -> None:
    """Train a run, score it under both protocols, write a file for each."""
    topic = experiment.topic(options)
    split = _split(run, options)
    parts = zeroshot_data.parts_of(experiment.load(options), split)
    arguments = run.train_arguments()
    arguments.pop("fold", None)
    if run.method.endswith("reg"):
        known = zeroshot_data.gloss_vectors(zeroshot_data.split_of(options), _glosses(options))
        of_classes = np.stack([known[name] for name in parts.train.classes])
        arguments["target_vectors"] = of_classes[parts.train.targets()]
    else:
        arguments["semantics"] = kh.semantics("wordnet", classes=parts.train.classes)
    folder = options.work / topic
    outputs = trained_parts(
        run, parts, arguments, folder / run.name, device=options.device, processes=options.processes
    )
    if options.train_only:
        return
    command = f"{experiment.script} --table {options.table} --data {options.data} --only {run.name}"
    card = {**outputs.card, "script": command, "config": outputs.card["config"] | _sizes(outputs)}
    unseen = kh.semantics("wordnet", classes=split.unseen)
    if "fold" not in run.options and run.method == WITH_FEATURES:
        found = _class_code(run, outputs, split, unseen, folder, options)
        print(write_result(topic, f"class-code-{run.name}", folder=options.results, **{**card, **found}))
    shown = retrieval(outputs, unseen)
    shown["metrics"]["seen_accuracy"] = outputs.card["seen_accuracy"]
    print(write_result(topic, run.name, folder=options.results, **{**card, **shown}))


def _class_code(
    run: Run,
    outputs: PartOutputs,
    split: WnidSplit,
    unseen: kh.Semantics,
    folder: Path,
    options: argparse.Namespace,
) -> Mapping[str, Any]:
    """Settings from the folds, then one look at the unseen classes."""
    problem = zeroshot_codes.problem_of(outputs, options.fit)
    rows = zeroshot_codes.measured(
        problem,
        zeroshot_data.class_vectors(split, _glosses(options)),
        _choices(run, folder, options),
        unseen.similarity,
    )
    protocol = {
        "mode": "class-code",
        "fitted on": f"{options.fit} pictures of the seen classes",
        "queries": "all pictures of the unseen classes",
        "n_queries": len(problem.asked),
        "ties": "expected",
        "similarity": unseen.name,
        "settings": "chosen on folds of the seen classes, by the mean of flat hit@1, 2 and 5",
    }
    return {"protocol": protocol, "rows": rows}


def _choices(run: Run, folder: Path, options: argparse.Namespace) -> Any:
    """From the networks of the folds; kept beside them, since it takes minutes."""
    named = [replace(_of_fold(run, fold), seed=0).name for fold in range(FOLDS)]
    found = [PartOutputs.load(folder / name) for name in named]
    there = [one for one in found if one is not None]
    if len(there) < FOLDS:
        missing = named[found.index(None)]
        raise SystemExit(
            f"settings are chosen with {missing}: run --table folds --only '{run.method}-*' first"
        )
    made_of = [zlib.crc32(one.features["train"].tobytes()) for one in there]
    cache = folder / f"choices-{run.name.rpartition('-')[0]}-{options.fit}.json"
    if cache.exists():
        card = json.loads(cache.read_text())
        if card["made of"] == made_of:
            return card["choices"]
    whole = zeroshot_data.split_of(options)
    vectors = [
        zeroshot_data.class_vectors(whole.held_back(fold), _glosses(options), whole) for fold in range(FOLDS)
    ]
    problems = [zeroshot_codes.problem_of(one, options.fit) for one in there]
    choices = zeroshot_codes.chosen(problems, vectors)
    replace_file(cache, (json.dumps({"made of": made_of, "choices": choices}, indent=1) + "\n").encode())
    return choices


def _split(run: Run, options: argparse.Namespace) -> WnidSplit:
    whole = zeroshot_data.split_of(options)
    return whole.held_back(run.options["fold"]) if "fold" in run.options else whole


def _sizes(outputs: PartOutputs) -> dict[str, int]:
    """How many classes are seen and unseen."""
    unseen = np.concatenate([outputs.labels[part] for part in UNSEEN])
    return {"seen": len(np.unique(outputs.labels["train"])), "unseen": len(np.unique(unseen))}


def _glosses(options: argparse.Namespace) -> Path:
    return Path(options.glosses or options.work / f"{topic(options)}-glosses.npz")


def topic(options: argparse.Namespace) -> str:
    return "zero-shot" if options.data == "tiny-imagenet" else "zero-shot-folder"


def load(options: argparse.Namespace) -> kh.Dataset:
    """The pictures; the vectors of glosses are made before many processes want them."""
    zeroshot_data.gloss_vectors(zeroshot_data.split_of(options), _glosses(options))
    return zeroshot_data.load(options)


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--seen", type=Path, metavar="FILE", help="of a folder: WordNet ids of the seen classes")
    add(
        "--unseen",
        type=Path,
        metavar="FILE",
        help="of a folder: those of the unseen ones (default: the rest)",
    )
    add("--glosses", type=Path, metavar="FILE.npz", help="sentence vectors of the glosses, made where absent")
    add(
        "--fit",
        choices=["train", "val", "all"],
        default=_FIT,
        help="pictures class-code methods are fitted on",
    )


EXPERIMENT = driver.Experiment(
    script="experiments/zeroshot.py",
    about=__doc__ or "",
    datasets=("tiny-imagenet", "folder"),
    tables={"final": final, "folds": folds},
    load=load,
    semantics=lambda options, data: {},
    add_options=add_options,
    topic=topic,
    complete=complete,
)

if __name__ == "__main__":
    sys.exit(driver.main(EXPERIMENT))
