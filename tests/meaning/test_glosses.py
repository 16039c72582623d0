"""What classes are described by: glosses where their meaning is known, themselves where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinhash.errors import InputError, UnknownClassError
from kinhash.meaning.glosses import class_texts, definition

BED = "a piece of furniture that provides a place to sleep"


def test_classes_of_tables_ids_and_synsets_have_glosses() -> None:
    cifar = class_texts("cifar100")
    assert len(cifar) == 100
    assert cifar["bed"] == BED
    assert cifar["otter"].startswith("freshwater carnivorous mammal")  # not the fur
    assert class_texts(list(cifar)[::-1])["bed"] == BED
    ids = class_texts("tiny-imagenet")
    assert len(ids) == 200
    assert all(len(text) > 5 and text != name for name, text in ids.items())
    assert class_texts(["n02818832", "bed.n.01"]) == {"n02818832": BED, "bed.n.01": BED}


def test_a_table_says_what_names_mean(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,synset\ncot,bed.n.01\n")
    for table in (path, {"cot": "bed.n.01"}):
        assert class_texts(["cot", "tent"], table) == {"cot": BED, "tent": "tent"}


def test_captions_and_mappings_stand_for_themselves() -> None:
    captions = ["Two dogs in a meadow", "ein Hund", "see e.g. fig. 3"]
    assert class_texts(captions) == {text: text for text in captions}
    assert class_texts({"b": "beta", "a": "n02818832"}) == {"b": "beta", "a": "n02818832"}


def test_definitions_leave_examples_out() -> None:
    assert definition('a bed; "he sat on it"; "a bed"') == "a bed"
    assert definition('a vessel; used for "holding" food;') == 'a vessel; used for "holding" food'


def test_bad_input() -> None:
    with pytest.raises(UnknownClassError, match="n99999999"):
        class_texts(["n99999999"])
    with pytest.raises(InputError, match="needs no table"):
        class_texts({"a": "alpha"}, {"a": "bed.n.01"})
    with pytest.raises(InputError, match="must be unique"):
        class_texts(["a", "a"])
