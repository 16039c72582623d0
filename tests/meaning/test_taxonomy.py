"""Hierarchies from pairs and files: what they know, and what they refuse."""

from __future__ import annotations

import itertools
import lzma
from pathlib import Path
from typing import Any

import pytest

from kinhash.errors import FormatError, NotFoundError, TaxonomyError, UnknownClassError
from kinhash.meaning.taxonomy import Taxonomy

PETS = [("animal", "dog"), ("animal", "cat"), ("dog", "poodle")]


def test_what_a_tree_knows() -> None:
    pets = Taxonomy(PETS)
    assert len(pets) == 4
    assert pets.root == "animal"
    assert pets.leaves == ("cat", "poodle")
    assert pets.parents("poodle") == ["dog"]
    assert sorted(pets.children("animal")) == ["cat", "dog"]
    assert pets.ancestors("poodle") == {"poodle", "dog", "animal"}
    assert pets.subsumer("poodle", "cat") == "animal"
    assert repr(pets) == "Taxonomy(4 nodes, 2 leaves, the hierarchy)"


def test_numeric_leaves_are_sorted_as_numbers() -> None:
    assert Taxonomy([("r", "10"), ("r", "9")]).leaves == ("9", "10")


def test_files_with_comments_blank_lines_and_compression(tmp_path: Path) -> None:
    text = "# pets\n" + "\n\n".join(f"{a}\t{b}" for a, b in PETS) + "\n"
    (tmp_path / "pets.txt").write_text(text)
    (tmp_path / "pets.txt.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "marked.txt").write_text(text.removeprefix("# pets\n"), encoding="utf-8-sig")
    (tmp_path / "marked.txt.xz").write_bytes(lzma.compress((tmp_path / "marked.txt").read_bytes()))
    for name in ("pets.txt", "pets.txt.xz", "marked.txt", "marked.txt.xz"):
        pets = Taxonomy.from_file(tmp_path / name)
        assert pets.names == Taxonomy(PETS).names
        assert name in repr(pets)


def test_a_cycle_is_shown() -> None:
    with pytest.raises(TaxonomyError, match=r"runs in a circle: .*Remove one of these edges") as caught:
        Taxonomy([("root", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "leaf")])
    circle = str(caught.value).split("circle: ")[1].split(" (")[0].split(" -> ")
    assert circle[0] == circle[-1]
    assert set(itertools.pairwise(circle)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_a_cycle_without_any_root() -> None:
    with pytest.raises(TaxonomyError, match=r"a -> b -> a|b -> a -> b"):
        Taxonomy([("a", "b"), ("b", "a")])


def test_a_file_of_a_cycle_or_of_several_roots_is_named(tmp_path: Path) -> None:
    circle, forest = tmp_path / "circle.txt", tmp_path / "forest.txt"
    circle.write_text("a b\nb a\n")
    forest.write_text("a b\nx y\n")
    with pytest.raises(TaxonomyError, match=r"circle\.txt runs in a circle"):
        Taxonomy.from_file(circle)
    with pytest.raises(TaxonomyError, match=r"forest\.txt: the classes lie below 2 roots \(a, x\)"):
        Taxonomy.from_file(forest).wu_palmer(["b", "y"])


def test_a_long_cycle_is_cut_short() -> None:
    edges = [(str(i), str((i + 1) % 500)) for i in range(500)]
    with pytest.raises(TaxonomyError, match=r"-> \.\.\. ->") as caught:
        Taxonomy(edges)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "is empty; give at least one pair"),
        ([("a", "a")], "node 'a' is its own parent"),
        ([("a", "b"), ("a", "b", "c")], r"item 1 is no pair of parent and child: \('a', 'b', 'c'\)"),
        (["ab"], "item 0 is no pair"),
        (None, "the hierarchy is made of pairs of parent and child; got None"),
        ("ab", "is made of pairs of parent and child; got 'ab'"),
        ([("a", "b"), ("a", "b")], "'a' above 'b' is given twice"),
    ],
)
def test_edges_that_make_no_hierarchy(edges: Any, message: str) -> None:
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy(edges)


def test_several_roots_are_refused_where_they_matter() -> None:
    forest = Taxonomy([("a", "b"), ("a", "c"), ("x", "y")])
    with pytest.raises(TaxonomyError, match=r"has 2 roots \(a, x\); add one node above them"):
        _ = forest.root
    assert forest.lcs_height(["b", "c"]).shape == (2, 2)
    with pytest.raises(TaxonomyError, match="the classes lie below 2 roots"):
        forest.wu_palmer(["b", "y"])
    several = Taxonomy([("a", "b"), ("x", "b"), ("a", "c")])
    with pytest.raises(TaxonomyError, match="below 2 roots"):
        several.lcs_height(["b", "c"])


@pytest.mark.parametrize("names", [[], "poodle"])
def test_names_come_in_a_sequence(names: Any) -> None:
    tree = Taxonomy([("dog", "poodle")])
    for call in (tree.lcs_height, tree.wu_palmer, tree.positions):
        with pytest.raises(UnknownClassError, match="name at least one node"):
            call(names)


def test_unknown_nodes_get_a_suggestion() -> None:
    with pytest.raises(UnknownClassError, match="no node 'poodel'; did you mean poodle"):
        Taxonomy(PETS).positions(["dog", "poodel"])
    with pytest.raises(UnknownClassError, match="has nodes like animal, dog, cat"):
        Taxonomy(PETS).height("zzz")


def test_files_that_are_no_hierarchy(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no hierarchy file"):
        Taxonomy.from_file(tmp_path / "none.txt")
    with pytest.raises(NotFoundError, match="cannot be read"):
        Taxonomy.from_file(tmp_path)
    (tmp_path / "three.txt").write_text("a b\na b c\n")
    with pytest.raises(FormatError, match=r"line 2: expected `parent child`, got 3 words"):
        Taxonomy.from_file(tmp_path / "three.txt")
    for name in ("binary.txt", "binary.xz"):
        (tmp_path / name).write_bytes(b"\xff\xfe\x00\x80")
        with pytest.raises(FormatError, match="is not a text file"):
            Taxonomy.from_file(tmp_path / name)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(TaxonomyError, match="is empty"):
        Taxonomy.from_file(tmp_path / "empty.txt")


def test_among_equally_deep_subsumers_the_lowest_counts_then_the_first_by_name() -> None:
    both = [(parent, child) for parent in ("x", "y") for child in ("a", "b")]
    fork = [("root", "x"), ("root", "y"), *both]
    assert Taxonomy(fork).subsumer("a", "b") == "x"
    taller = Taxonomy([*fork, ("x", "p"), ("p", "q")])
    assert taller.subsumer("a", "b") == "y"
    assert taller.lcs_height(["a", "b"])[0, 1] == 1 - 1 / 3
