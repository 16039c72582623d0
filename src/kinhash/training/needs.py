"""Whether the data bring what a method cannot do without, in one sentence where they do not."""

from __future__ import annotations

import numpy as np

from kinhash.errors import InputError
from kinhash.meaning.semantics import Semantics
from kinhash.methods.contract import Method
from kinhash.models.backbone import Backbone


def check_needs(
    name: str, method: Method, semantics: Semantics | None, *, targets: bool, vectors: bool
) -> None:
    """Labels are checked already. `targets`, `vectors`: whether there are target vectors, and vectors of classes."""
    needs = method.needs
    if "meaning" in needs and semantics is None and not targets:
        raise InputError("labels alone have no meaning: pass semantics=kh.semantics(...), or target_vectors")
    if needs & {"semantics", "hierarchy"} and semantics is None:
        raise InputError(
            f"{name} learns how far apart classes are: pass semantics=kh.semantics('wordnet', data.classes), or choose a "
            "method that needs labels alone ('csq', 'class')"
        )
    if "vectors" in needs and semantics is None and not vectors:
        raise InputError(
            f"{name} learns vectors of classes: pass class_vectors (word vectors, say), or semantics=kh.semantics(...), "
            "of which they are made"
        )
    if "hierarchy" in needs and semantics is not None and not _groups(semantics):
        raise InputError(
            f"{name} needs classes in groups, and {semantics.name!r} counts every two of them as equally different: pass "
            "kh.semantics('wordnet', data.classes) or 'tree:FILE', or choose a method without groups ('csq', 'class')"
        )


def check_features(name: str, method: Method, *, embeddings: bool, top: Backbone) -> None:
    """`embeddings`: whether the network sees vectors. `top`: what stands between them and the hash layer."""
    if not embeddings and (method.build is None or "features" in method.needs):
        raise InputError(
            f"{name} works on given features: pass embeddings, a pretrained backbone such as 'efficientnet-lite0', or a "
            "trained one with frozen=True"
        )
    if method.build is None and top.name != "none":
        raise InputError(
            f"{name} trains no network, and the backbone {top.name!r} would stay as it was drawn: leave backbone and "
            "head out"
        )


def _groups(semantics: Semantics) -> bool:
    """Whether some classes are nearer to each other than others."""
    off = semantics.distance[~np.eye(len(semantics), dtype=bool)]
    return bool(off.size) and float(np.ptp(off)) > 1e-9
