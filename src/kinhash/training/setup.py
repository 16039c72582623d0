"""From what the user gives to what the loop needs: checked data, target distances, a network, a method's problem."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from kinhash.arrays import finite_rows, is_whole
from kinhash.data.splits import Split
from kinhash.errors import InputError, UnknownClassError
from kinhash.feeding.sentences import Sentences
from kinhash.meaning.class_embeddings import class_embeddings
from kinhash.meaning.semantics import Semantics
from kinhash.methods import Method, Problem
from kinhash.models.backbone import Backbone
from kinhash.models.catalogue import build_backbone, is_pretrained
from kinhash.models.network import HashNetwork
from kinhash.models.retrieval import no_codes
from kinhash.models.text_head import TextHead
from kinhash.training.needs import check_needs
from kinhash.training.recipes import SMALL, Kind, Recipe, derive

DEFAULT_BITS = 64
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
    split: Split,
    semantics: Semantics | None,
    target_vectors: ArrayLike | None,
    class_vectors: ArrayLike | None,
    method: Method,
    name: str,
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
    """Refuse what nothing can be learned from; returns the checked target and class vectors."""
    if not isinstance(split, Split):
        raise InputError(f"train takes a split, such as data.train; got {type(split).__name__}")
    targets = _rows(target_vectors, "target_vectors", len(split), "rows")
    if semantics is not None or "labels" in method.needs or (targets is None and method.needs - {"features"}):
        split.targets()  # its errors say what is missing
    own = _rows(class_vectors, "class_vectors", len(split.classes), "classes")
    check_needs(name, method, semantics, targets=targets is not None, vectors=own is not None)
    return targets, own


def problem_for(
    method: Method,
    recipe: Recipe,
    bits: int,
    split: Split,
    semantics: Semantics | None,
    target_vectors: NDArray[np.float32] | None,
    class_vectors: NDArray[np.float32] | None,
    parameters: Mapping[str, Any],
    seed: int,
    *,
    sentences: bool = False,
) -> Problem:
    """What the method is asked to learn; refused where the method says that it cannot."""
    distances = None if semantics is None else torch.tensor(semantics.distance, dtype=torch.float32)
    own = None
    if (method.regresses and target_vectors is None) or "vectors" in method.needs:
        own = None if class_vectors is None else torch.from_numpy(class_vectors)
        own = vectors_of(semantics) if own is None and semantics is not None else own
    width = 0 if own is None else own.shape[1]
    if method.regresses and target_vectors is not None:
        width = target_vectors.shape[1]
    classes = 0 if split.labels is None else len(split.classes)
    problem = Problem(
        bits=bits,
        options=recipe,
        classes=classes,
        distances=distances,
        target_width=width,
        class_vectors=own,
        sentences=sentences,
        seed=seed,
        parameters=parameters,
        counts=torch.bincount(torch.as_tensor(split.labels), minlength=classes) if classes else None,
    )
    if method.check is not None:
        method.check(problem)
    return problem


def sized(problem: Problem, method: Method, backbone: Backbone, recipe: Recipe) -> Problem:
    """The problem, now that what stands before the hash layer is there."""
    inputs = int(backbone.options.get("inputs", 0)) if backbone.preprocessing is None else 0
    problem = dataclasses.replace(problem, inputs=inputs)
    width = problem.bits if method.width is None else method.width(problem)
    return dataclasses.replace(problem, width=backbone.width if recipe.activation == "features" else width)


def vectors_of(semantics: Semantics) -> torch.Tensor:
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
    if recipe.whole and backbone.preprocessing is not None:
        backbone.preprocessing = dataclasses.replace(backbone.preprocessing, whole=True)
    return _native_size(backbone, split)


def network_for(
    backbone: Backbone, method: Method, problem: Problem, recipe: Recipe, sentences: Sentences | None = None
) -> HashNetwork:
    """Backbone, hash layer and the heads that the method needs, one for sentences among them."""
    text = None
    if sentences is not None:
        hidden, drop = [recipe.hidden], recipe.dropout
        inputs = sentences.vectors.shape[1]
        text = TextHead(inputs, problem.width, hidden, drop, recipe.activation, sentences.encoder).card()
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


def _rows(values: ArrayLike | None, name: str, count: int, what: str) -> NDArray[np.float32] | None:
    if values is None:
        return None
    rows = finite_rows(values, name, np.float32)
    if len(rows) != count:
        raise InputError(f"{count} {what} need as many {name}, got {len(rows)}")
    return rows


def checked_bits(bits: int | None, method: Method, name: str) -> int:
    """A code length, 64 by default; 0 for a method that makes no codes, and must not be asked for any."""
    if method.retrieves == "floats":
        if bits is not None:
            raise InputError(f"{no_codes(name)}; leave bits={bits} out")
        return 0
    if bits is None:
        return DEFAULT_BITS
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
    targets: bool,
    sentences: Sentences | None,
    parameters: Mapping[str, Any],
    class_vectors: NDArray[np.float32] | None,
) -> dict[str, Any]:
    """Everything that must be equal for a run to be the same run."""
    return {
        "bits": bits,
        "method": method,
        "backbone": backbone.card(),
        "recipe": name,
        "seed": seed,
        "semantics": semantics.name if semantics else "target vectors" if targets else None,
        "samples": len(split),
        "classes": list(split.classes),
        **({} if class_vectors is None else {"class_vectors_crc32": zlib.crc32(class_vectors.tobytes())}),
        **({} if sentences is None else {"text": sentences.encoder}),
        **parameters,
        **dataclasses.asdict(recipe),
    }


def _native_size(backbone: Backbone, split: Split) -> Backbone:
    """A network for small pictures takes those at hand at their own size."""
    pre = backbone.preprocessing
    if pre is not None and pre.size <= SMALL and isinstance(split.images, np.ndarray):
        backbone.preprocessing = dataclasses.replace(pre, size=min(split.images.shape[1:3]))
    return backbone
