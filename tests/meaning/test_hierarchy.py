"""Similarities of every kind against naive set-based ones, on random graphs and on the published hierarchies."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning.oracles import NaiveDag
from realdata import find_data

from kinhash.errors import InputError
from kinhash.meaning.hierarchy import lcs_height, wu_palmer
from kinhash.meaning.taxonomy import Taxonomy


@st.composite
def dags(draw: st.DrawFn) -> dict[str, list[str]]:
    """Up to 10 nodes below one root; names are shuffled, so that ties by name matter."""
    n = draw(st.integers(2, 10))
    names = draw(st.permutations([f"node{i:02d}" for i in range(n)]))
    parents: dict[str, list[str]] = {names[0]: []}
    for i in range(1, n):
        above = draw(st.lists(st.integers(0, i - 1), min_size=1, max_size=3, unique=True))
        parents[names[i]] = [names[p] for p in above]
    return parents


def taxonomy_of(parents: dict[str, list[str]]) -> Taxonomy:
    return Taxonomy([(above, node) for node, all_above in parents.items() for above in all_above])


@given(dags())
@settings(max_examples=80, deadline=None)
def test_random_graphs(parents: dict[str, list[str]]) -> None:
    naive, dag = NaiveDag(parents), taxonomy_of(parents)
    names = sorted(parents)
    for node in names:
        assert dag.ancestors(node) == naive.above(node)
        assert dag.min_depth(node) == naive.min_depth(node)
        assert dag.max_depth(node) == naive.max_depth(node)
        assert dag.height(node) == naive.height(node)
    pairs = [[(a, b) for b in names] for a in names]
    top = dag.height(dag.root)
    expected = np.array([[naive.nltk(a, b) for a, b in row] for row in pairs])
    assert np.array_equal(dag.wu_palmer(names, "nltk"), expected)
    mean = (expected + expected.T) / 2
    np.fill_diagonal(mean, 1.0)
    assert np.array_equal(dag.wu_palmer(names), mean)
    assert np.array_equal(dag.wu_palmer(names, "barz"), [[naive.barz(a, b) for a, b in row] for row in pairs])
    lcs = np.array([[naive.lcs_height(a, b, top) for a, b in row] for row in pairs])
    assert np.array_equal(dag.lcs_height(names, "barz"), lcs)
    np.fill_diagonal(lcs, 1.0)
    assert np.array_equal(dag.lcs_height(names), lcs)
    assert all(dag.subsumer(a, b) == naive.lcs(a, b) for row in pairs for a, b in row)


@given(dags(), st.data())
@settings(max_examples=40, deadline=None)
def test_some_of_the_classes_have_the_values_of_all(
    parents: dict[str, list[str]], data: st.DataObject
) -> None:
    dag = taxonomy_of(parents)
    names = sorted(parents)
    some = data.draw(st.lists(st.sampled_from(range(len(names))), min_size=1, max_size=8))
    chosen = [names[i] for i in some]
    for variant in ("symmetric", "nltk", "barz"):
        assert np.array_equal(
            dag.wu_palmer(chosen, variant), dag.wu_palmer(names, variant)[np.ix_(some, some)]
        )
    assert np.array_equal(dag.lcs_height(chosen), dag.lcs_height(names)[np.ix_(some, some)])


def test_one_class_and_one_edge() -> None:
    dag = Taxonomy([("root", "leaf")])
    assert dag.wu_palmer(["leaf"]).tolist() == [[1.0]]
    assert dag.lcs_height(["leaf", "root"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert dag.lcs_height(["root"], "barz").tolist() == [[0.0]]


def test_the_tree_of_cifar100_against_the_naive_one() -> None:
    path = find_data("hierarchies/cifar.parent-child.txt")
    dag = Taxonomy.from_file(path)
    assert len(dag) == 163
    assert dag.height(dag.root) == 8
    assert dag.leaves == tuple(map(str, range(100)))
    parents: dict[str, list[str]] = {dag.root: []}
    for line in path.read_text().splitlines():
        parent, child = line.split()
        parents.setdefault(child, []).append(parent)
    naive = NaiveDag(parents)
    height = {node: dag.height(node) for node in dag.names}
    some = dag.leaves[::9]
    for i, a in enumerate(some):
        for j, b in enumerate(some):
            common = naive.above(a) & naive.above(b)
            lcs = max(common, key=naive.max_depth)
            assert dag.lcs_height(some)[i, j] == 1 - height[lcs] / 8
    assert np.array_equal(dag.wu_palmer(dag.leaves), dag.wu_palmer(dag.leaves, "barz")), (
        "one parent, one value"
    )


@pytest.mark.parametrize("variant", ["symmetric", "barz"])
def test_the_pruned_graph_of_ilsvrc(variant: str) -> None:
    dag = Taxonomy.from_file(find_data("hierarchies/ilsvrc.pruned.parent-child.txt.xz"))
    wnids = find_data("hierarchies/ilsvrc2012_wnids.txt").read_text().split()
    assert len(dag) == 73_473
    assert len(dag.graph.roots) > 1, "fragments are left in it, but none of them lies above a class"
    assert dag.height("n00001740") == 19
    similarity = dag.lcs_height(wnids, variant)
    above = {wnid: dag.ancestors(wnid) for wnid in wnids[::97]}
    for i in range(0, 1000, 97):
        for j in range(0, 1000, 97):
            common = above[wnids[i]] & above[wnids[j]]
            deepest = max(map(dag.max_depth, common))
            lowest = min(dag.height(c) for c in common if dag.max_depth(c) == deepest)
            assert similarity[i, j] == 1 - lowest / 19


def test_classes_that_share_a_node_are_equal() -> None:
    dag = Taxonomy([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    assert dag.wu_palmer(["c", "d", "c"])[0].tolist()[::2] == [1.0, 1.0]
    assert dag.lcs_height(["c", "d", "c"])[2].tolist()[::2] == [1.0, 1.0]


def test_options_that_do_not_exist() -> None:
    dag = Taxonomy([("r", "a")])
    with pytest.raises(InputError, match="variant is one of 'symmetric', 'nltk', 'barz'; got 'wup'"):
        dag.wu_palmer(["a"], "wup")
    with pytest.raises(InputError, match="NLTK has no LCS height"):
        dag.lcs_height(["a"], "nltk")


def test_threads_do_not_change_the_result() -> None:
    rng = np.random.default_rng(0)
    edges = [(str(p), str(i)) for i in range(1, 400) for p in set(rng.integers(0, i, 2).tolist())]
    dag = Taxonomy(edges)
    nodes = np.arange(len(dag))
    for measure in (wu_palmer, lcs_height):
        assert np.array_equal(measure(dag.graph, nodes, threads=1), measure(dag.graph, nodes, threads=5))


def test_a_long_chain_needs_no_recursion() -> None:
    dag = Taxonomy([(str(i), str(i + 1)) for i in range(3000)])
    assert dag.height("0") == 3000
    assert dag.wu_palmer(["3000", "0"])[0, 1] == 2 / (3000 + 2)


def test_without_the_compiler() -> None:
    code = """
from kinhash.meaning.taxonomy import Taxonomy
dag = Taxonomy([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("r", "e")])
print(dag.wu_palmer(["c", "d", "e"], "nltk").tolist(), dag.lcs_height(["c", "d", "e"]).tolist())
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        ).stdout
        for environment in ({"NUMBA_DISABLE_JIT": "1"}, {})
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("[[1.0, 0.857")
