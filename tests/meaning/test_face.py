"""`kinhash.semantics`: every way to say what meaning is, and every way to say it wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from realdata import find_data

import kinhash as kh
from kinhash.errors import AmbiguousClassError, InputError, UnknownClassError
from kinhash.meaning.taxonomy import Taxonomy
from kinhash.meaning.wordnet import load_wordnet


@pytest.fixture
def pets(tmp_path: Path) -> str:
    (tmp_path / "pets.txt").write_text("animal dog\nanimal cat\ndog poodle\ndog pug\n")
    return f"tree:{tmp_path / 'pets.txt'}"


def test_wordnet_by_name_of_a_table_or_by_its_names() -> None:
    by_table = kh.semantics("wordnet", "cifar100")
    assert by_table.name == "wordnet wup symmetric"
    assert np.array_equal(by_table.distance, by_table.distance.T)
    assert not np.diagonal(by_table.distance).any()
    shuffled = by_table.classes[::-1]
    by_names = kh.semantics("wordnet", shuffled)
    assert by_names.classes == shuffled
    assert np.array_equal(by_names.distance, by_table.distance[::-1, ::-1])


def test_a_part_of_the_names_of_a_table_needs_the_table() -> None:
    with pytest.raises(AmbiguousClassError, match="otter"):
        kh.semantics("wordnet", ["otter", "tiger"])
    some = kh.semantics("wordnet", ["otter", "tiger"], table="cifar100")
    whole = kh.semantics("wordnet", "cifar100")
    assert np.array_equal(some.distance, whole.take(["otter", "tiger"]).distance)


def test_tables_as_file_and_as_mapping(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,synset\nfelix,cat.n.01\nrex,n02084071\n")
    by_file = kh.semantics("wordnet", ["felix", "rex"], table=path)
    by_mapping = kh.semantics("wordnet", ["felix", "rex"], table={"felix": "cat.n.01", "rex": "dog.n.01"})
    assert by_file.distance[0, 1] == by_mapping.distance[0, 1] == pytest.approx(1 - 6 / 7)
    override = kh.semantics("wordnet", "cifar100", table={"keyboard": "keyboard.n.01"})
    assert not np.array_equal(override.distance, kh.semantics("wordnet", "cifar100").distance)


@pytest.mark.parametrize(("variant", "symmetric"), [("symmetric", True), ("nltk", False), ("barz", True)])
def test_variants(variant: str, symmetric: bool) -> None:
    kin = kh.semantics("wordnet", "cifar100", variant=variant)
    assert kin.name.endswith(variant)
    assert np.array_equal(kin.distance, kin.distance.T) == symmetric
    wordnet = load_wordnet()
    direct = wordnet.positions(["girl.n.01", "woman.n.01"])
    assert len(direct) == 2
    assert ((kin.distance >= 0) & (kin.distance < 1)).all()


def test_measures() -> None:
    lcs = kh.semantics("wordnet", "ilsvrc2012", measure="lcs")
    assert lcs.name == "wordnet lcs symmetric"
    assert len(lcs) == 1000
    assert lcs.classes[0] == "n01440764"
    assert not np.array_equal(lcs.distance, kh.semantics("wordnet", "ilsvrc2012").distance)


def test_trees(pets: str) -> None:
    kin = kh.semantics(pets)
    assert kin.classes == ("cat", "poodle", "pug")
    assert kin.distance.tolist() == [[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]]
    assert kin.name == f"{pets} lcs symmetric"
    named = kh.semantics(pets, ["Rex", "cat"], table={"Rex": "pug"}, measure="wup")
    assert named.distance.tolist() == [[0, 0.6], [0.6, 0]]
    taxonomy = Taxonomy.from_file(pets.removeprefix("tree:"))
    assert np.array_equal(kh.semantics(taxonomy).distance, kin.distance)


def test_the_tree_of_cifar100() -> None:
    kin = kh.semantics("tree:cifar100")
    assert kin.classes == kh.semantics("wordnet", "cifar100").classes
    path = find_data("hierarchies/cifar.parent-child.txt")
    by_file = kh.semantics(f"tree:{path}")
    assert by_file.classes == tuple(map(str, range(100)))
    assert np.array_equal(by_file.distance, kin.distance)
    with pytest.raises(UnknownClassError, match="tree:cifar100 has no node 'aple'; did you mean apple"):
        kh.semantics("tree:cifar100", ["aple"])


def test_labels() -> None:
    for classes in (3, np.int64(3), ["0", "1", "2"]):
        kin = kh.semantics("labels", classes)
        assert kin.distance.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
        assert kin.classes == ("0", "1", "2")
    assert len(kh.semantics("labels", "imagenet21k".replace("imagenet21k", "tiny-imagenet"))) == 200


def test_matrices_and_embeddings(rng: np.random.Generator) -> None:
    matrix = [[0, 0.5], [0.5, 0]]
    kin = kh.semantics(matrix, ["a", "b"])
    assert (kin.name, kin.classes, kin.distance.tolist()) == ("matrix", ("a", "b"), matrix)
    assert kh.semantics(matrix).classes == ("0", "1")
    vectors = rng.normal(size=(5, 5))
    cosine = kh.semantics(vectors, metric="cosine")
    assert cosine.name == "embeddings cosine"
    assert cosine.distance.shape == (5, 5)
    manhattan = kh.semantics(vectors, list("abcde"), metric="manhattan", scale=100)
    assert manhattan.distance[0, 1] == pytest.approx(np.abs(vectors[0] - vectors[1]).sum() / 100)


@pytest.mark.parametrize(
    ("spec", "classes", "options", "message"),
    [
        (
            "glove",
            None,
            {},
            "semantics are 'wordnet', 'sentences', 'tree:FILE', 'labels', a matrix or embeddings; got 'glove'",
        ),
        ("tree:", None, {}, "got 'tree:'"),
        ("wordnet", None, {}, "'wordnet' needs classes: a sequence of names, or one of 'cifar100'"),
        ("wordnet", 10, {}, "'wordnet' needs classes"),
        ("labels", None, {}, "'labels' needs classes"),
        ("labels", 0, {}, "at least 1, got 0"),
        ("labels", True, {}, "needs classes|not iterable|there are no classes"),
        ("labels", [], {}, "there are no classes"),
        ("labels", ["a", "a"], {}, "'a' occurs 2 times"),
        ("wordnet", "cifar10", {}, "the class tables are"),
        ("wordnet", "cifar100", {"measure": "path"}, "measure is one of 'wup', 'lcs'; got 'path'"),
        ("wordnet", "cifar100", {"variant": "perl"}, "variant is one of"),
        ("wordnet", "cifar100", {"measure": "lcs", "variant": "nltk"}, "NLTK has no LCS height"),
        (
            "wordnet",
            "cifar100",
            {"metric": "cosine"},
            "metric means nothing for 'wordnet'; it takes measure, variant",
        ),
        ("labels", 3, {"variant": "barz"}, "variant means nothing for 'labels'; it takes no options"),
        ([[0.0]], None, {"measure": "wup"}, "measure means nothing for 'an array'; it takes metric, scale"),
        ([[0.0]], None, {"scale": 2.0}, "scale belongs to embeddings"),
        ([[0.0]], ["a", "b"], {}, "2 classes, but the array has 1 rows"),
        ([[0.0, 1.0]], None, {}, "pass metric='cosine'"),
    ],
)
def test_requests_that_mean_nothing(spec: Any, classes: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kh.semantics(spec, classes, **options)
