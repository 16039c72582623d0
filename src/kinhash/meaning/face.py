"""From a description of meaning to distances between classes, in one call; `kinhash.sentences` adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinhash.arrays import checked_choice, is_whole
from kinhash.errors import InputError
from kinhash.frozen import handed_over
from kinhash.meaning.embeddings import embedding_distances
from kinhash.meaning.graph import Graph, Positions
from kinhash.meaning.hierarchy import Floats, lcs_height, wu_palmer
from kinhash.meaning.matrix import checked_distances
from kinhash.meaning.semantics import Semantics, checked_names
from kinhash.meaning.senses import resolve
from kinhash.meaning.tables import TABLES, bundled_table, class_table, meanings
from kinhash.meaning.taxonomy import Taxonomy
from kinhash.meaning.wordnet import load_wordnet

Classes = str | Sequence[str] | int | None
_MEASURES = ("wup", "lcs")


def semantics(
    spec: str | Taxonomy | ArrayLike,
    classes: Classes = None,
    *,
    measure: str | None = None,
    variant: str | None = None,
    table: str | Path | Mapping[str, str] | None = None,
    metric: str | None = None,
    scale: float | None = None,
) -> Semantics:
    """`kinhash.semantics`, whose docstring explains the arguments, without sentences."""
    given = {"measure": measure, "variant": variant, "table": table, "metric": metric, "scale": scale}
    if isinstance(spec, Taxonomy):
        return _from_taxonomy(spec, spec.source, classes, **allowed(given, "a taxonomy"))
    if not isinstance(spec, str):
        return _from_array(spec, classes, **allowed(given, "an array", ("metric", "scale")))
    if spec == "wordnet":
        return _from_wordnet(classes, **allowed(given, spec))
    if spec.startswith("tree:") and len(spec) > len("tree:"):
        source = spec.removeprefix("tree:")
        return _from_taxonomy(_tree(source), spec, _tree_classes(source, classes), **allowed(given, spec))
    if spec == "labels":
        allowed(given, spec, ())
        names = _names(classes, spec)
        return Semantics("labels", handed_over(1.0 - np.eye(len(names))), names)
    raise InputError(
        f"semantics are 'wordnet', 'sentences', 'tree:FILE', 'labels', a matrix or embeddings; got {spec!r}"
    )


def _from_wordnet(
    classes: Classes,
    measure: str = "wup",
    variant: str = "symmetric",
    table: str | Path | Mapping[str, str] | None = None,
) -> Semantics:
    names = _names(classes, "wordnet", numbers=False)
    bundled = bundled_table(classes, names)
    wordnet = load_wordnet()
    chosen = {**(bundled.synsets if bundled else {}), **meanings(table, wordnet)}
    values = _measured(wordnet.graph, resolve(wordnet, names, chosen), measure, variant)
    return _made(f"wordnet {measure} {variant}", values, names)


def _from_taxonomy(
    taxonomy: Taxonomy,
    name: str,
    classes: Classes,
    measure: str = "lcs",
    variant: str = "symmetric",
    table: str | Path | Mapping[str, str] | None = None,
) -> Semantics:
    names = taxonomy.leaves if classes is None else _names(classes, name, numbers=False)
    nodes = meanings(table)
    positions = taxonomy.positions([nodes.get(name, name) for name in names])
    return _made(f"{name} {measure} {variant}", _measured(taxonomy.graph, positions, measure, variant), names)


def _from_array(
    array: ArrayLike, classes: Classes, metric: str | None = None, scale: float | None = None
) -> Semantics:
    if metric is None:
        if scale is not None:
            raise InputError("scale belongs to embeddings; pass metric='manhattan' or 'cosine' with it")
        distances, name = checked_distances(array), "matrix"
    else:
        distances, name = embedding_distances(array, metric=metric, scale=scale), f"embeddings {metric}"
    names = _names(len(distances) if classes is None else classes, name)
    if len(names) != len(distances):
        raise InputError(
            f"{len(names)} classes, but the array has {len(distances)} rows; one row per class is needed"
        )
    return Semantics(name, handed_over(distances), names)


def _measured(graph: Graph, nodes: Positions, measure: str, variant: str) -> Floats:
    checked_choice(measure, _MEASURES, "measure")
    return wu_palmer(graph, nodes, variant) if measure == "wup" else lcs_height(graph, nodes, variant)


def _made(name: str, similarity: Floats, names: tuple[str, ...]) -> Semantics:
    """From similarities, in place: 21,841 classes take 3.6 GiB once, not twice."""
    return Semantics(name, handed_over(np.subtract(1.0, similarity, out=similarity)), names)


def _names(classes: Classes, spec: str, numbers: bool = True) -> tuple[str, ...]:
    if isinstance(classes, str):
        return class_table(classes).names
    if numbers and is_whole(classes):
        if classes < 1:
            raise InputError(f"the number of classes must be at least 1, got {classes}")
        return tuple(map(str, range(classes)))
    if classes is None or isinstance(classes, int | np.integer):
        raise InputError(
            f"{spec!r} needs classes: a sequence of names, or one of {', '.join(map(repr, TABLES))}"
        )
    return checked_names(classes)


def _tree(source: str) -> Taxonomy:
    if source != "cifar100":
        return Taxonomy.from_file(source)
    tree = Taxonomy.from_file(Path(str(files("kinhash.meaning") / "resources" / "cifar100-tree.txt")))
    tree.source = tree.graph.source = "tree:cifar100"
    return tree


def _tree_classes(source: str, classes: Classes) -> Classes:
    return "cifar100" if source == "cifar100" and classes is None else classes


def allowed(
    given: Mapping[str, Any], spec: str, names: Sequence[str] = ("measure", "variant", "table")
) -> dict[str, Any]:
    """The options that were given; one that means nothing for `spec` is an error, not ignored."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in names:
            usable = f"it takes {', '.join(names)}" if names else "it takes no options"
            raise InputError(f"{name} means nothing for {spec!r}; {usable}")
    return chosen
