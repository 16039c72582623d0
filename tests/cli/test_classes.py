"""`kinhash classes`: from names to a table, from a table to a verdict, in real processes' terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import kinhash as kh
from kinhash.cli.classes import command, read_names
from kinhash.meaning.tables import read_sense_rows


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.txt"
    path.write_text("otter\nhamster\n\n  lawn mower \n")
    return path


def test_suggest_choose_check_use(names: Path) -> None:
    done = run("suggest", names)
    assert done.exit_code == 0, done.output
    table = names.with_suffix(".senses.csv")
    assert "4 candidates for 3 names" in done.output
    assert "chosen, since the word has one meaning: 2" in done.output
    assert "to be chosen by you: 1" in done.output

    unfinished = run("check", table)
    assert unfinished.exit_code != 0
    assert "nothing is chosen for 'otter'" in unfinished.output
    assert "is not finished: 1 thing to do" in str(unfinished.exception)
    with pytest.raises(kh.KinhashError, match="nothing is chosen for 'otter'"):
        kh.semantics("wordnet", ["otter", "hamster", "lawn mower"], table=table)

    rows = table.read_text().splitlines()
    table.write_text("\n".join(row.replace("otter,,otter.n.02", "otter,x,otter.n.02") for row in rows))
    finished = run("check", table)
    assert finished.exit_code == 0, finished.output
    assert "otter: otter.n.02 n02444819, freshwater carnivorous mammal" in finished.output
    assert "3 classes, all chosen" in finished.output
    kin = kh.semantics("wordnet", ["otter", "hamster", "lawn mower"], table=table)
    expected = kh.semantics("wordnet", ["otter.n.02", "hamster.n.01", "lawn_mower.n.01"])
    assert kin.distance.tolist() == expected.distance.tolist()


def test_choices_are_not_overwritten(names: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    assert run("suggest", names, "--out", out).exit_code == 0
    out.write_text("mine")
    again = run("suggest", names, "--out", out)
    assert again.exit_code != 0
    assert "may hold choices" in str(again.exception)
    assert out.read_text() == "mine"
    assert run("suggest", names, "--out", out, "--force").exit_code == 0
    assert len(read_sense_rows(out)) == 4


def test_a_place_that_cannot_be_written_is_named(names: Path) -> None:
    done = run("suggest", names, "--out", names / "table.csv")  # below a file
    assert isinstance(done.exception, kh.KinhashError)
    assert "cannot write the table" in str(done.exception)


def test_names_without_candidates_are_named(names: Path) -> None:
    names.write_text("qqqq\ntiger cat\n")
    done = run("suggest", names)
    assert "without any candidate: qqqq" in done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "there is no file"), ("\n \n", "holds no names"), ("a\nb\na\n", "'a' is given 2 times")],
)
def test_names_that_cannot_be_read(names: Path, text: str | None, message: str) -> None:
    if text is None:
        names.unlink()
    else:
        names.write_text(text)
    done = run("suggest", names)
    assert isinstance(done.exception, kh.KinhashError)
    assert message in str(done.exception)
    assert not names.with_suffix(".senses.csv").exists()


def test_the_mark_that_some_editors_put_first_is_no_letter(names: Path) -> None:
    names.write_text("hamster\n", encoding="utf-8-sig")
    assert read_names(names) == ["hamster"]


def test_binary_names(names: Path) -> None:
    names.write_bytes(b"\xff\xfe\x80")
    assert "cannot be read as a text" in str(run("suggest", names).exception)


def test_check_points_at_wrong_synsets_and_at_twins(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("name,synset\na,cat.n.77\nb,\n")
    done = run("check", table)
    assert "no noun 'cat.n.77'" in done.output
    assert "'b' has no synset" in done.output
    assert "2 things to do" in str(done.exception)
    table.write_text("name,synset\nsofa,couch.n.01\ncouch,sofa.n.01\n")
    done = run("check", table)
    assert done.exit_code == 0
    assert "note: 'sofa' and 'couch' mean the same synset; their distance is 0" in done.output


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no table" in str(run("check", tmp_path / "none.csv").exception)


def test_texts_are_what_sentences_reads(names: Path) -> None:
    done = run("texts", "cifar100")
    assert done.exit_code == 0, done.output
    assert "bed: a piece of furniture that provides a place to sleep\n" in done.output
    table = names.with_name("t.csv")
    table.write_text("name,synset\notter,otter.n.02\n")
    lines = run("texts", names, "--table", table).output.splitlines()
    assert lines[0].startswith("otter: freshwater carnivorous mammal")
    assert lines[1:] == ["hamster: hamster", "lawn mower: lawn mower"]
