"""From a task to what the loop needs: a recipe, a backbone, the method's problem, a network."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from kinhash.data.splits import Split
from kinhash.errors import InputError
from kinhash.meaning.class_embeddings import class_embeddings, similarity_of, usable_dimensions
from kinhash.meaning.semantics import Semantics
from kinhash.methods import Method, Problem
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone, is_pretrained
from kinhash.models.network import HashNetwork
from kinhash.models.text_head import TextHead
from kinhash.training.recipes import SMALL, Kind, Recipe, derive
from kinhash.training.task import Task

_WIDEST = 128  # dimensions of class vectors to regress to


def kind_of(split: Split) -> Kind:
    """Embeddings, small pictures or larger ones."""
    if split.images is None:
        return "vectors"
    if isinstance(split.images, np.ndarray):
        return "small" if max(split.images.shape[1:3]) <= SMALL else "large"
    return "large"


def problem_for(task: Task, recipe: Recipe) -> Problem:
    """What the method is asked to learn; refused where the method says that it cannot."""
    method, semantics = task.method, task.semantics
    own = None
    if (method.regresses and task.target_vectors is None) or "vectors" in method.needs:
        own = None if task.class_vectors is None else torch.from_numpy(task.class_vectors)
        own = vectors_of(semantics) if own is None and semantics is not None else own
    width = 0 if own is None else own.shape[1]
    if method.regresses and task.target_vectors is not None:
        width = task.target_vectors.shape[1]
    problem = Problem(
        bits=task.bits,
        options=recipe,
        classes=task.classes,
        distances=None if semantics is None else torch.tensor(semantics.distance, dtype=torch.float32),
        target_width=width,
        class_vectors=own,
        sentences=task.sentences is not None,
        seed=task.seed,
        parameters=task.parameters,
    )
    if method.check is not None:
        method.check(problem)
    return problem


def sized(problem: Problem, method: Method, backbone: Backbone, recipe: Recipe) -> Problem:
    """The problem with the width of z, now that what stands before the hash layer is there."""
    if recipe.activation == "features":
        return dataclasses.replace(problem, width=backbone.width)
    width = problem.bits if method.width is None else method.width(problem)
    return dataclasses.replace(problem, width=width)


def vectors_of(semantics: Semantics) -> torch.Tensor:
    """(C, D) vectors whose inner products come as near to the similarities as `D <= 128` allows."""
    S = similarity_of(semantics.distance)
    return torch.tensor(class_embeddings(S, min(usable_dimensions(S), _WIDEST)), dtype=torch.float32)


def derived(
    name: str, split: Split, backbone: str | Backbone, overrides: Mapping[str, Any], *, captions: bool
) -> Recipe:
    """The recipe for these data and this backbone, with what the caller wants otherwise."""
    kind = kind_of(split)
    pretrained = isinstance(backbone, str) and is_pretrained(backbone)
    frozen = overrides.get("frozen", kind != "vectors" and pretrained)  # unless the caller wants otherwise
    if frozen and kind == "vectors":
        raise InputError("frozen=True concerns backbones of pictures; these data are embeddings")
    return derive(name, kind, len(split), frozen=frozen, captions=captions).with_options(overrides)


def chosen_backbone(name: str | Backbone, split: Split, recipe: Recipe) -> Backbone:
    """The backbone by name, with inputs that fit the data."""
    if isinstance(name, Backbone):
        return name
    options: dict[str, Any] = {}
    if name in ("mlp", "none"):
        if split.vectors is None or split.images is not None:
            raise InputError(f"backbone {name!r} takes embeddings, and the data are pictures")
        options["inputs"] = split.vectors.shape[1]
    elif split.images is None:
        raise InputError(
            f"backbone {name!r} takes pictures, and the data are embeddings; use 'mlp' or 'none'"
        )
    if name == "mlp":
        options |= {"hidden": [recipe.hidden], "dropout": recipe.dropout}
        options["input_dropout"] = recipe.input_dropout
    backbone = build_backbone(name, **options)
    if recipe.whole and backbone.preprocessing is not None:
        backbone.preprocessing = dataclasses.replace(backbone.preprocessing, whole=True)
    return _native_size(backbone, split)


def network_for(backbone: Backbone, task: Task, problem: Problem, recipe: Recipe) -> HashNetwork:
    """Backbone, hash layer and the heads that the method needs, one for sentences among them."""
    method, sentences = task.method, task.sentences
    text = None
    if sentences is not None:
        text = TextHead(
            sentences.vectors.shape[1],
            problem.width,
            [recipe.hidden],
            recipe.dropout,
            recipe.activation,
            sentences.encoder,
            recipe.input_dropout,
        ).card()
    return HashNetwork(
        backbone,
        problem.bits,
        0 if method.build is None else problem.classes,  # an untrained head would predict at random
        activation=recipe.activation,
        detach_head=not method.shapes_by_class,
        regression=problem.target_width if method.regresses else 0,
        width=problem.width,
        reading=method.reading,
        unit=method.metric == "cosine",
        text=text,
    )


def run_config(task: Task, recipe: Recipe, name: str, backbone: Backbone) -> dict[str, Any]:
    """Everything that must be equal for a run to be the same run; `name` is the recipe's."""
    vectors, sentences = task.class_vectors, task.sentences
    meaning = None if task.target_vectors is None else "target vectors"
    return {
        "bits": task.bits,
        "method": task.name,
        "backbone": backbone.card(),
        "recipe": name,
        "seed": task.seed,
        "semantics": meaning if task.semantics is None else task.semantics.name,
        "samples": len(task.split),
        "classes": list(task.split.classes),
        **({} if vectors is None else {"class_vectors_crc32": zlib.crc32(vectors.tobytes())}),
        **({} if sentences is None else {"text": sentences.encoder}),
        **task.parameters,
        **dataclasses.asdict(recipe),
    }


def _native_size(backbone: Backbone, split: Split) -> Backbone:
    """A network for small pictures takes those at hand at their own size."""
    pre = backbone.preprocessing
    if pre is not None and pre.size <= SMALL and isinstance(split.images, np.ndarray):
        backbone.preprocessing = dataclasses.replace(pre, size=min(split.images.shape[1:3]))
    return backbone
