"""The bundled class tables against the data, and tables that a person edits."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from realdata import find_data

from kinhash.errors import FormatError, InputError, NotFoundError
from kinhash.meaning.face import semantics
from kinhash.meaning.senses import candidates
from kinhash.meaning.tables import (
    COLUMNS,
    TABLES,
    class_table,
    problems,
    read_sense_rows,
    read_table,
    unknown_synsets,
    write_candidates,
)
from kinhash.meaning.taxonomy import Taxonomy
from kinhash.meaning.wordnet import load_wordnet

WORDNET = load_wordnet()


@pytest.mark.parametrize(
    ("name", "size"),
    [("cifar100", 100), ("ilsvrc2012", 1000), ("imagenet21k", 21_841), ("tiny-imagenet", 200)],
)
def test_sizes_and_every_class_is_a_noun(name: str, size: int) -> None:
    table = class_table(name)
    assert len(table.names) == len(set(table.names)) == len(table.synsets) == size
    assert len(WORDNET.positions([table.synsets[n] for n in table.names])) == size


def test_ids_are_the_published_ones_in_their_order() -> None:
    for name, file in (("ilsvrc2012", "ilsvrc2012_wnids.txt"), ("imagenet21k", "imagenet21k_wnids.txt")):
        assert list(class_table(name).names) == find_data(f"hierarchies/{file}").read_text().split()


def test_one_class_of_ilsvrc_is_missing_from_imagenet21k() -> None:
    assert set(class_table("ilsvrc2012").names) - set(class_table("imagenet21k").names) == {"n04399382"}


def test_tiny_imagenet_holds_the_classes_of_the_data() -> None:
    tiny = class_table("tiny-imagenet").names
    assert list(tiny) == sorted(tiny)
    assert set(tiny) <= set(class_table("ilsvrc2012").names)
    path = find_data("tiny-imagenet/val-00000-of-00001.parquet")
    present = set(pq.read_table(path, columns=["wnid"])["wnid"].to_pylist())
    assert len(present) == 160
    assert present <= set(tiny)


def test_cifar100_is_the_hand_checked_list() -> None:
    table = class_table("cifar100")
    with find_data("hierarchies/cifar100_wordnet30.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["class_name"] for row in rows] == list(table.names)
    for row in rows:
        synset = WORDNET.synset(table.synsets[row["class_name"]])
        assert synset.wnid == row["wnid_wordnet3.0"]
        assert row["synset_lemma"] in synset.lemmas


def test_the_tree_of_cifar100_is_the_published_one_with_names() -> None:
    tree = Taxonomy.from_file("src/kinhash/meaning/resources/cifar100-tree.txt")
    numbers = Taxonomy.from_file(find_data("hierarchies/cifar.parent-child.txt"))
    lines = find_data("hierarchies/cifar100.class_names.txt").read_text().splitlines()
    names = dict(line.split() for line in lines)
    assert {(names[p], names[n]) for n in numbers.names for p in numbers.parents(n)} == {
        (p, n) for n in tree.names for p in tree.parents(n)
    }
    assert tree.leaves == class_table("cifar100").names == tuple(names[n] for n in numbers.leaves)


def test_a_table_that_does_not_exist() -> None:
    with pytest.raises(InputError, match=r"the class tables are 'cifar100', .*; got 'imagenet'"):
        class_table("imagenet")
    assert all(class_table(name).names for name in TABLES)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_short_table_needs_no_choice(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "name,synset\nsea otter,otter.n.02\n mouse , n02330245 \n")
    assert read_table(path) == {"sea otter": "otter.n.02", "mouse": "n02330245"}


def test_only_chosen_rows_count(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "\ufeffname,choice,synset\notter,,otter.n.01\notter,X,otter.n.02\n")
    assert read_table(path) == {"otter": "otter.n.02"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,synset\n", "the table has no rows"),
        ("name,meaning\nx,y\n", "has no column 'synset'"),
        ("", "has no column 'name'"),
        (
            "name,choice,synset\nox,,ox.n.01\nox,,ox.n.02\n",
            "nothing is chosen for 'ox'; mark one of its 2 rows",
        ),
        (
            "name,choice,synset\nox,x,ox.n.01\nox,x,ox.n.02\n",
            r"'ox' has 2 rows that count \(ox.n.01, ox.n.02\)",
        ),
        ("name,choice,synset\nzzz,,\n", "'zzz' has no candidate; fill in `synset` by hand"),
        ("name,synset\nox,\n", "the row of 'ox' has no synset"),
        ("name,synset\nox\n", "the row of 'ox' has no synset"),
        ("name,synset\n,ox.n.01\n", "1 rows have no name"),
        ("name,synset\na,\nb,\n", r"1 more: `kinhash classes check"),
    ],
)
def test_tables_that_are_not_finished(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_table(written(tmp_path / "t.csv", text))


def test_files_that_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no table"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(NotFoundError, match="cannot be read"):
        read_table(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"name,synset\n\xff\xfe,\x80\n")
    with pytest.raises(FormatError, match="is not a csv table in UTF-8"):
        read_table(tmp_path / "t.csv")


def test_candidates_survive_the_file(tmp_path: Path) -> None:
    found = candidates(WORDNET, ["otter", "hamster", "qqqq", "maple tree"])
    write_candidates(tmp_path / "t.csv", WORDNET, found)
    rows = read_sense_rows(tmp_path / "t.csv")
    assert tuple(rows[0]) == COLUMNS
    assert [row["name"] for row in rows] == [c.name for c in found]
    assert [row["synset"] for row in rows] == [c.synset.name if c.synset else "" for c in found]
    assert [row["choice"] for row in rows].count("x") == 1
    assert rows[0]["path"].startswith("otter.n.01 < fur.n.01")
    assert rows[0]["gloss"] == "the fur of an otter"
    assert "2 senses compete" in rows[0]["warning"]
    assert len(problems(rows)) == 3


def test_synsets_that_wordnet_lacks_or_that_contradict_their_id(tmp_path: Path) -> None:
    text = "name,synset,wnid\na,cat.n.77,\nb,cat.n.01,n02084071\nc,cat.n.01,n02121620\n"
    wrong = unknown_synsets(WORDNET, read_sense_rows(written(tmp_path / "t.csv", text)))
    assert len(wrong) == 2
    assert "no noun 'cat.n.77'" in wrong[0]
    assert "'b': cat.n.01 is n02121620, but `wnid` says n02084071" in wrong[1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("rex,cat.n.01,n02084071", r"t\.csv: 'rex': cat.n.01 is n02121620, but `wnid` says n02084071"),
        ("rex,cat.n.77,", r"t\.csv: 'rex': .*no noun 'cat.n.77'"),
    ],
)
def test_wordnet_takes_no_table_that_the_check_refuses(tmp_path: Path, row: str, message: str) -> None:
    path = written(tmp_path / "t.csv", f"name,synset,wnid\nfelix,cat.n.01,n02121620\n{row}\n")
    with pytest.raises(FormatError, match=message):
        semantics("wordnet", ["felix", "rex"], table=path)
