"""The bundled WordNet: every way to name a synset, what is known about it, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from meaning.oracle import wordnet_files

from kinhash.errors import UnknownClassError
from kinhash.meaning.wordnet import as_lemma, load_wordnet

WORDNET = load_wordnet()


def test_a_synset_by_name_id_and_position() -> None:
    cat = WORDNET.synset("cat.n.01")
    assert cat == WORDNET.synset("n02121620") == WORDNET.synset(cat.position)
    assert cat.lemmas == ("cat", "true_cat")
    assert cat.gloss.startswith("feline mammal")
    assert WORDNET.synset("true_cat.n.1").name == "cat.n.01", "any of its words names it"
    assert WORDNET.wnid(cat.position) == cat.wnid


def test_size_and_root() -> None:
    assert len(WORDNET) == 82_115
    assert repr(WORDNET) == "WordNet(82115 noun synsets)"
    assert [WORDNET.synset(int(r)).name for r in WORDNET.graph.roots] == ["entity.n.01"]


def test_senses_are_in_the_order_of_frequency() -> None:
    assert [s.name for s in WORDNET.senses("Otter")] == ["otter.n.01", "otter.n.02"]
    assert [s.name for s in WORDNET.senses("lawn mower")] == ["lawn_mower.n.01"]
    assert [s.name for s in WORDNET.senses("T")].count("t.n.04") == 1, "'T' and 't' are one word"
    assert WORDNET.senses("no such word") == []


def test_every_way_to_the_root() -> None:
    paths = WORDNET.paths_to_root(WORDNET.synset("dog.n.01"))
    assert [len(path) for path in paths] == [9, 14]
    assert [s.name for s in paths[0]][:3] == ["dog.n.01", "domestic_animal.n.01", "animal.n.01"]
    assert all(path[-1].name == "entity.n.01" for path in paths)
    assert len(paths[1]) == WORDNET.graph.max_depth[paths[0][0].position] + 1
    assert {path[1].name for path in paths} == {"canine.n.02", "domestic_animal.n.01"}


def test_instances_hang_below_what_they_are_instances_of() -> None:
    einstein = WORDNET.senses("einstein")[0]
    assert {path[1].name for path in WORDNET.paths_to_root(einstein)} == {"physicist.n.01"}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("n99999999", "WordNet 3.0 has no noun with the id 'n99999999'"),
        ("n02121621", "no noun with the id"),
        ("cat.v.01", "'cat.v.01' is no noun"),
        ("otter.n.07", r"no noun 'otter.n.07'; 'otter' has otter.n.01, otter.n.02"),
        ("zzz.n.01", "nor the word 'zzz'"),
        ("cat", "neither a synset name like 'cat.n.01' nor an id"),
        (82_115, "numbered 0 to 82114, got 82115"),
        (-1, "got -1"),
    ],
)
def test_keys_that_name_nothing(key: str | int, message: str) -> None:
    with pytest.raises(UnknownClassError, match=message):
        WORDNET.synset(key)


def test_names_are_unique_and_ranked() -> None:
    names = [WORDNET.synset(place).name for place in range(0, len(WORDNET), 50)]
    assert len(set(names)) == len(names)
    ranks = WORDNET.graph.rank[::50]
    assert [names[i] for i in np.argsort(ranks)] == sorted(names)


def test_ids_as_a_sequence() -> None:
    ids = WORDNET.graph.names
    assert len(ids) == len(WORDNET)
    assert ids[:2] == ["n00001740", "n00001930"]


def test_the_licence_lies_beside_the_data() -> None:
    text = (files("kinhash.meaning") / "resources" / "WORDNET-LICENSE").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
    assert 'THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS"' in text


def test_words_as_wordnet_writes_them() -> None:
    assert as_lemma(" Lawn  Mower ") == "lawn_mower"


def test_the_resource_is_what_the_script_builds_of_the_original_files(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "tools" / "build_wordnet.py"
    command = [sys.executable, str(script), str(wordnet_files()), "--out", str(tmp_path / "again.npz")]
    subprocess.run(command, check=True, capture_output=True)
    bundled = Path(str(files("kinhash.meaning") / "resources" / "wordnet30.npz"))
    assert bundled.stat().st_size <= 5 * 2**20
    with np.load(bundled) as ours, np.load(tmp_path / "again.npz") as again:
        assert sorted(ours) == sorted(again)
        for name in ours:
            np.testing.assert_array_equal(ours[name], again[name], err_msg=name)
