"""`train`: from a split and its semantics to an encoder."""

from __future__ import annotations

import os
from typing import Any

import torch
from numpy.typing import ArrayLike

from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.feeding.loader import DeviceLoader
from kinhash.feeding.sentences import EncodesTexts
from kinhash.meaning.semantics import Semantics
from kinhash.models.backbone import Backbone
from kinhash.models.encoder import HashEncoder
from kinhash.training import recipes, setup
from kinhash.training.distributed import Place, joined, placed
from kinhash.training.features import feature_split
from kinhash.training.fitting import fit_coder
from kinhash.training.graphs import Accelerate
from kinhash.training.loop import Conduct, Outcome, Run, untrained
from kinhash.training.needs import check_features
from kinhash.training.runfolder import RunFolder
from kinhash.training.scoring import check_test, measured
from kinhash.training.step import Trainee
from kinhash.training.task import Task, task_for


def train(
    split: Split,
    *,
    semantics: Semantics | None = None,
    bits: int | None = None,
    backbone: str | Backbone | None = None,
    method: str | None = None,
    epochs: int | None = None,
    recipe: str = "modern",
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    device: torch.device | str | None = None,
    progress: bool = True,
    test: Split | None = None,
    target_vectors: ArrayLike | None = None,
    class_vectors: ArrayLike | None = None,
    text: str | EncodesTexts | None = None,
    accelerate: Accelerate = "auto",
    checkpoint_every: int | None = None,
    stop_after: int | None = None,
    workers: int = 0,
    processes: bool = False,
    **overrides: Any,
) -> HashEncoder:
    """Learn codes of `bits` bits (64) whose Hamming distances follow the semantics of the labels.

    One dial, `bits`: all else is derived from the data (`training.recipes`) and can be changed by name, e.g.
    `train(..., lr=0.05, batch=256, kl_weight=0.01)`. `backbone` is a name for `build_backbone`; pretrained ones stay
    frozen unless `frozen=False`. `method` is a line of `kinhash.methods.METHODS` ("sim-kl-class" where there are
    semantics, else "sim-kl-reg"), which says what it retrieves with and which parameters of its own can be changed by
    name. `target_vectors` (n, D), caption embeddings for example, take the place of labels: distances between them are
    followed, or they are what "reg" methods predict. `class_vectors` (C, D), word vectors for example, are for methods
    that learn vectors of classes; by default they are made of the semantics.

    `text` names a sentence encoder ("minilm", or a `kh.text_encoder`) for the captions of the split: a text head learns
    with the pictures, so that `encoder.encode_text` gives sentences codes in the same space. Without semantics and
    target_vectors the mean of a picture's captions is its target.

    `out` names the folder of the run: config.json, log.jsonl, checkpoints, and in the end metrics.json, curves.png
    and encoder/. `resume` goes on from its newest checkpoint, on one CPU bit for bit as if never interrupted;
    `stop_after` leaves after so many epochs. `test` is evaluated once, at the end. Pictures too many to be held are
    decoded on the way by `workers` threads (0: one per core), or with `processes` by as many processes. Started by
    torchrun, all processes train one encoder, and the losses see the pairs of all of them.
    """
    if epochs is not None:
        overrides["epochs"] = epochs
    task = task_for(split, semantics, method, bits, seed, target_vectors, class_vectors, text, overrides)
    check_test(test, split, by_captions=task.sentences is not None and semantics is None)
    kind = setup.kind_of(split)
    name = backbone or recipes.default_backbone(recipe, kind)
    options = setup.derived(recipe, split, name, task.overrides, captions=task.target_vectors is not None)
    if backbone is None and kind == "vectors":
        name = options.head
    problem = setup.problem_for(task, options)
    with (
        joined(device) as place,
        torch.random.fork_rng([place.device] if place.device.type == "cuda" else []),
    ):
        torch.manual_seed(seed)
        folder = RunFolder(out, resume=resume, writes=place.first)
        base = setup.chosen_backbone(name, split, options)
        data, top = split, base
        if options.frozen:
            data, rows = feature_split(
                split, base, place.device, progress=progress and place.first, workers=workers
            )
            task = task.of_rows(rows)
            top = setup.chosen_backbone(options.head, data, options)
        check_features(task.name, task.method, embeddings=top.preprocessing is None, top=top)
        problem = setup.sized(problem, task.method, top, options)
        config = setup.run_config(task, options, recipe, base)
        network = setup.network_for(top, task, problem, options)
        objective = None if task.method.build is None else task.method.build(problem)
        if objective is None:
            folder.begin(config, 0)
            placed(network, place.device)
            outcome = untrained(network)
        else:
            conduct = Conduct(accelerate, progress, checkpoint_every, stop_after)
            loader = _loader(data, task, options, top, place, workers, processes)
            try:
                trainee = Trainee(network, objective)
                placed(trainee, place.device)
                run = Run(trainee, loader, options, folder, config, place, conduct)
                if resume:
                    run.resume()
                outcome = run.fit()
            finally:
                loader.close()
        fit_coder(task.method, outcome.network, objective, problem, data)
        encoder = _encoder(outcome, task, config)
        if options.frozen:
            encoder = encoder.after(base)
        if not isinstance(text, str):
            encoder.text_encoder = text
    if place.first:  # the others need not wait for what one can do alone
        folder.keep(encoder)  # before it is measured: what may fail then does not lose it
        found = measured(encoder, test, task.semantics, options)
        if found:
            encoder.training_card["evaluation"] = found
            folder.keep(encoder)
        folder.finish(outcome.summary() | found)
    return encoder


def _loader(
    data: Split,
    task: Task,
    recipe: recipes.Recipe,
    backbone: Backbone,
    place: Place,
    workers: int,
    processes: bool,
) -> DeviceLoader:
    own = recipe.batch // place.world
    if own < 2:
        raise InputError(
            f"a batch of {recipe.batch} leaves {own} row for each of {place.world} processes, and batch statistics "
            f"need 2: use a batch of at least {2 * place.world}"
        )
    return DeviceLoader(
        data,
        own,
        device=place.device,
        augment=recipe.augmentation(),
        seed=task.seed,
        preprocessing=backbone.preprocessing,
        target_vectors=task.target_vectors,
        sentences=task.sentences,
        rank=place.rank,
        world=place.world,
        workers=workers,
        processes=processes,
    )


def _encoder(outcome: Outcome, task: Task, config: dict[str, Any]) -> HashEncoder:
    return HashEncoder(
        outcome.network,
        classes=task.split.classes if task.classes else (),
        semantics=task.semantics,
        training={key: value for key, value in config.items() if key != "classes"},
        retrieval=task.method.retrieval(task.name),
    )
