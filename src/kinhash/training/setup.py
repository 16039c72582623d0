"""From what the user gives to what the loop needs: checked data, target distances, a network, a method's problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows, is_whole
from kinhash.data.splits import Split
from kinhash.errors import InputError, UnknownClassError
from kinhash.meaning.class_embeddings import class_embeddings
from kinhash.meaning.semantics import Semantics
from kinhash.methods import Method, Problem
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone, is_pretrained
from kinhash.models.network import HashNetwork
from kinhash.training.recipes import SMALL, Kind, Recipe, derive

_WIDEST = 128  # dimensions of class vectors to regress to


def kind_of(split: Split) -> Kind:
    """Embeddings, small pictures or larger ones."""
    if split.images is None:
        return "vectors"
    if isinstance(split.images, np.ndarray):
        return "small" if max(split.images.shape[1:3]) <= SMALL else "large"
    return "large"


def aligned(semantics: Semantics | None, split: Split) -> Semantics | None:
    """The semantics with exactly the classes of the split, in its order."""
    if semantics is None:
        return None
    if not isinstance(semantics, Semantics):
        raise InputError(
            "semantics is what kh.semantics(...) gives, e.g. kh.semantics('wordnet', data.classes); "
            f"got {type(semantics).__name__}"
        )
    missing = sorted(set(split.classes) - set(semantics.classes))
    if missing:
        raise UnknownClassError(
            f"{semantics.name} knows nothing about {len(missing)} of the {len(split.classes)} classes of the data, "
            f"{missing[0]!r} for example; make the semantics from the data's own classes: kh.semantics(..., data.classes)"
        )
    return semantics.take(list(split.classes))


def check_data(
    split: Split, semantics: Semantics | None, target_vectors: ArrayLike | None, method: Method
) -> NDArray[np.float32] | None:
    """Refuse what nothing can be learned from; returns the checked target vectors."""
    if not isinstance(split, Split):
        raise InputError(f"train takes a split, such as data.train; got {type(split).__name__}")
    if target_vectors is None or semantics is not None or "labels" in method.needs:
        split.targets()  # its errors say what is missing
    if target_vectors is None and semantics is None:
        raise InputError("labels alone have no meaning: pass semantics=kh.semantics(...), or target_vectors")
    if target_vectors is None:
        return None
    vectors = finite_rows(target_vectors, "target_vectors", np.float32)
    if len(vectors) != len(split):
        raise InputError(f"{len(split)} rows need as many target_vectors, got {len(vectors)}")
    return vectors


def problem_for(
    method: Method,
    recipe: Recipe,
    bits: int,
    split: Split,
    semantics: Semantics | None,
    target_vectors: NDArray[np.float32] | None,
    seed: int,
) -> Problem:
    """What the method is asked to learn."""
    distances = None if semantics is None else torch.tensor(semantics.distance, dtype=torch.float32)
    own = class_vectors(semantics) if method.regresses and target_vectors is None and semantics else None
    width = 0 if own is None else own.shape[1]
    if method.regresses and target_vectors is not None:
        width = target_vectors.shape[1]
    return Problem(
        bits=bits,
        options=recipe,
        classes=0 if split.labels is None else len(split.classes),
        distances=distances,
        target_width=width,
        class_vectors=own,
        seed=seed,
    )


def class_vectors(semantics: Semantics) -> torch.Tensor:
    """(C, D) vectors whose inner products come as near to the similarities as `D <= 128` allows."""
    S = 1 - (semantics.distance + semantics.distance.T) / 2
    np.fill_diagonal(S, 1.0)
    values = np.linalg.eigvalsh(S)
    usable = int((values > 1e-6 * values[-1]).sum())
    return torch.tensor(class_embeddings(S, min(usable, _WIDEST)), dtype=torch.float32)


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
    backbone = build_backbone(name, **options)
    return _native_size(backbone, split)


def network_for(backbone: Backbone, method: Method, problem: Problem, recipe: Recipe) -> HashNetwork:
    """Backbone, hash layer and the heads that the method needs."""
    return HashNetwork(
        backbone,
        problem.bits,
        problem.classes,
        activation=recipe.activation,
        detach_head=not method.shapes_by_class,
        regression=problem.target_width,
    )


def checked_bits(bits: int) -> int:
    """A code length."""
    if not is_whole(bits) or not 1 <= bits <= 4096:
        raise InputError(f"bits is a whole number from 1 to 4096 (16 to 256 are usual), got {bits!r}")
    return int(bits)


def run_config(
    recipe: Recipe,
    name: str,
    method: str,
    backbone: Backbone,
    split: Split,
    semantics: Semantics | None,
    *,
    bits: int,
    seed: int,
) -> dict[str, Any]:
    """Everything that must be equal for a run to be the same run."""
    return {
        "bits": bits,
        "method": method,
        "backbone": backbone.card(),
        "recipe": name,
        "seed": seed,
        "semantics": semantics.name if semantics else "target vectors",
        "samples": len(split),
        "classes": list(split.classes),
        **dataclasses.asdict(recipe),
    }


def _native_size(backbone: Backbone, split: Split) -> Backbone:
    """A network for small pictures takes those at hand at their own size."""
    pre = backbone.preprocessing
    if pre is not None and pre.size <= SMALL and isinstance(split.images, np.ndarray):
        backbone.preprocessing = dataclasses.replace(pre, size=min(split.images.shape[1:3]))
    return backbone
