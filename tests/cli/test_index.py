"""`kinhash index`, `search` and `dedup`: the same as the functions, clear errors, exit codes of real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.commands import done, refused, run

import kinhash as kh
from kinhash.cli import index_sources
from kinhash.items import CodedItems

ROWS = [
    ("a", "0f", "cat", 2009),
    ("b", "0e", "dog", 2012),
    ("c", "ff", "cat", 2015),
    ("d", "0f", "cat", 2020),
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    lines = [f"{name},{code},{label},{year}" for name, code, label, year in ROWS]
    path.write_text("\n".join(["id,code,label,year", *lines]) + "\n")
    return path


@pytest.fixture
def pets(tmp_path: Path, table: Path) -> Path:
    path = tmp_path / "pets.kin"
    done("index", "create", path, "--bits", 8)
    done("index", "add", path, table, "--number", "year", "--quiet")
    return path


# ---- index ---------------------------------------------------------------------------------------------


def test_create_says_what_it_made(tmp_path: Path) -> None:
    assert "an empty index for codes of 64 bits" in done("index", "create", tmp_path / "i", "--bits", 64)
    card = json.loads(done("index", "create", tmp_path / "j", "--bits", 8, "--ids", "int", "--json"))
    assert card == {"index": str(tmp_path / "j"), "bits": 8, "ids": "int"}
    assert kh.Index.open(tmp_path / "j").ids_kind == "int"
    assert "is an index already" in refused("index", "create", tmp_path / "i", "--bits", 64)
    assert "from 1 to 512" in refused("index", "create", tmp_path / "k", "--bits", 0)


def test_a_table_becomes_items(pets: Path) -> None:
    with kh.Index.open(pets) as index:
        items = index.get([row[0] for row in ROWS])
        assert items.codes.hex() == [row[1] for row in ROWS]
        assert items.metadata == [{"label": label, "year": year} for *_, label, year in ROWS]


def test_lines_of_json_become_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sources, "_ROWS", 2)
    path = tmp_path / "items.jsonl"
    rows = [{"id": n, "code": code, "tags": [label]} for n, (_, code, label, _) in enumerate(ROWS)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    done("index", "create", tmp_path / "i", "--bits", 8)
    card = json.loads(done("index", "add", tmp_path / "i", path, "--json"))
    assert (card["added"], card["items"], card["broken"]) == (4, 4, [])
    with kh.Index.open(tmp_path / "i") as index:
        assert index.get([3, 0]).metadata == [{"tags": ["cat"]}, {"tags": ["cat"]}]
        assert index.count('tags contains "dog"') == 1


def test_folders_of_codes(tmp_path: Path) -> None:
    codes = kh.Codes.from_hex([row[1] for row in ROWS], 8)
    CodedItems(codes, [row[0] for row in ROWS], [row[2] for row in ROWS]).save(tmp_path / "named")
    codes.save(tmp_path / "plain")
    done("index", "create", tmp_path / "i", "--bits", 8)
    assert "4 added; 4 items now" in done("index", "add", tmp_path / "i", tmp_path / "named", "--quiet")
    with kh.Index.open(tmp_path / "i") as index:
        assert index.get(["c"]).metadata == [{"label": "cat"}]
    done("index", "create", tmp_path / "j", "--bits", 8)
    done("index", "add", tmp_path / "j", tmp_path / "plain")
    assert "is in the index already" in refused("index", "add", tmp_path / "j", tmp_path / "plain")
    done("index", "add", tmp_path / "j", tmp_path / "plain", "--first-id", 10)
    with kh.Index.open(tmp_path / "j") as index:
        assert index.items()[0].tolist() == [0, 1, 2, 3, 10, 11, 12, 13]


@pytest.mark.parametrize("first", [2**63 - 3, 2**70, -(2**63) - 1])
def test_numbers_of_codes_fit_into_64_bits(tmp_path: Path, first: int) -> None:
    kh.Codes.from_hex([row[1] for row in ROWS], 8).save(tmp_path / "plain")
    done("index", "create", tmp_path / "i", "--bits", 8)
    said = refused("index", "add", tmp_path / "i", tmp_path / "plain", f"--first-id={first}")
    assert f"--first-id {first} numbers 4 codes beyond 64 signed bits" in said
    done("index", "add", tmp_path / "i", tmp_path / "plain", f"--first-id={2**63 - 4}")
    with kh.Index.open(tmp_path / "i") as index:
        assert index.items()[0].tolist() == list(range(2**63 - 4, 2**63))


def test_ids_that_exist(pets: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.csv"
    more.write_text("id,code\na,00\nz,01\n")
    assert "id 'a' is in the index already" in refused("index", "add", pets, more)
    assert "1 added, 1 skipped; 5 items now" in done("index", "add", pets, more, "--existing", "skip")
    assert kh.Index.open(pets).get("a").codes.hex() == ["0f"]
    assert "0 added, 2 replaced; 5 items" in done("index", "add", pets, more, "--existing", "replace")
    assert kh.Index.open(pets).get("a").codes.hex() == ["00"]
    assert kh.Index.open(pets).get("a").metadata == [{}]


def test_what_was_acknowledged_before_an_error_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sources, "_ROWS", 2)
    path = tmp_path / "items.csv"
    path.write_text("id,code\na,00\nb,01\nc,02\nd,xx\n")
    done("index", "create", tmp_path / "i", "--bits", 8)
    result = run("index", "add", tmp_path / "i", path, "--quiet")
    assert "items.csv, line 5: the code is not hexadecimal: 'xx'" in str(result.exception)
    assert "2 items stay added; --existing skip goes on from there" in result.stderr
    path.write_text("id,code\na,00\nb,01\nc,02\nd,03\n")
    assert "2 added, 2 skipped; 4 items now" in done(
        "index", "add", tmp_path / "i", path, "--existing", "skip"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "id,kode\na,00\n", "t.csv has no column 'code'; its first line names id, kode"),
        ("t.csv", "", "t.csv has no column 'id'"),
        ("t.csv", "id,code,year\na,00,x\n", "t.csv, line 2: year is 'x', which is no number"),
        ("t.csv", "id,code,year\na,00,NaN\n", "t.csv, line 2: year is 'NaN', which is no number"),
        ("t.csv", "id,code,year\na,00,1,2\n", "t.csv, line 2: 3 cells were expected"),
        ("t.csv", "id,code,year\na\n", "t.csv, line 2: 3 cells were expected"),
        ("t.csv", "id,code,year\na,0000,1\n", "t.csv, line 2: the code has 2 bytes, a 8-bit code has 1"),
        ("t.csv", 'id,code,year\n"a"x,00,1\n', "t.csv is not csv after line 1"),
        ("t.csv", b"id,code,year\n\xff,00,1\n", "t.csv is not UTF-8"),
        ("t.csv", "id,code,year,id\na,00,1,b\n", "t.csv has the column 'id' twice: rename one of them"),
        ("t.csv", "id,code,year\na,00," + "[" * 9999 + "\n", "which is no number"),
        ("t.jsonl", '{"id": ' + "[" * 9999 + "\n", "t.jsonl, line 1 is nested too deeply: flatten it"),
        ("t.jsonl", '{"id": 1}\n', 't.jsonl, line 1: expected an object with "id" and "code"'),
        ("t.jsonl", '\n{"id"\n', "t.jsonl, line 2 is not json"),
        ("t.jsonl", '{"id": 1, "code": 3}\n', "t.jsonl, line 1: the code is no text of hexadecimal digits"),
        ("t.jsonl", '{"id": 1, "code": "00", "x": NaN}\n', "metadata of item 0 is not JSON"),
        ("t.txt", "a", "t.txt is neither .jsonl nor .csv; if it holds pictures, give --encoder FOLDER"),
        ("none.csv", None, "there is no file or folder"),
        ("", None, "is a folder without codes.json; if it holds pictures, give --encoder FOLDER"),
    ],
)
def test_sources_that_cannot_be_read(tmp_path: Path, name: str, text: Any, message: str) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done("index", "create", tmp_path / "i", "--bits", 8)
    assert message in refused("index", "add", tmp_path / "i", tmp_path / name, "--number", "year")
    assert len(kh.Index.open(tmp_path / "i")) == 0


def test_delete(pets: Path, tmp_path: Path) -> None:
    assert "id 'x' is not in the index: nothing was changed" in refused("index", "delete", pets, "a", "x")
    assert "1 deleted; 3 items now" in done("index", "delete", pets, "a")
    (tmp_path / "list").write_text("b\n\n")
    assert json.loads(done("index", "delete", pets, "--from", tmp_path / "list", "--json"))["items"] == 2
    assert "2 deleted; 0 items now" in done("index", "delete", pets, "--where", "year > 2000")
    assert "cannot be read as a list of ids" in refused("index", "delete", pets, "--from", tmp_path / "no")
    assert run("index", "delete", pets).exit_code == 2
    assert run("index", "delete", pets, "a", "--where", "year = 1").exit_code == 2


def test_compact_verify_and_stats(pets: Path) -> None:
    done("index", "delete", pets, "b")
    before = json.loads(done("index", "stats", pets, "--json"))
    assert (before["items"], before["metadata"]) == (3, {"label": "str", "year": "int"})
    assert "3 items, " in done("index", "compact", pets)
    assert json.loads(done("index", "compact", pets, "--json"))["items"] == 3
    text = done("index", "stats", pets)
    assert "items      3\n" in text
    assert "metadata   label (str), year (int)\n" in text
    assert "intact, 3 items in 3 files" in done("index", "verify", pets)
    assert json.loads(done("index", "verify", pets, "--json"))["items"] == 3
    segment = next(pets.glob("segment-*"))
    data = bytearray(segment.read_bytes())
    data[4096] ^= 1
    segment.write_bytes(data)
    assert f"{segment} is damaged" in refused("index", "verify", pets)


# ---- search --------------------------------------------------------------------------------------------


def test_search_by_code(pets: Path) -> None:
    assert done("search", pets, "--code", "0f", "-k", 2) == (
        '0\ta\t{"label": "cat", "year": 2009}\n0\td\t{"label": "cat", "year": 2020}\n'
    )
    both = done("search", pets, "--code", "0f", "--code", "ff", "--where", "year = 2015")
    assert both == '# 0f\n4\tc\t{"label": "cat", "year": 2015}\n# ff\n0\tc\t{"label": "cat", "year": 2015}\n'
    card = json.loads(done("search", pets, "--code", "0e", "--radius", 1, "--json"))
    hits = card["answers"][0]["hits"]
    assert [(hit["distance"], hit["id"]) for hit in hits] == [(0, "b"), (1, "a"), (1, "d")]
    assert hits[0]["metadata"] == {"label": "dog", "year": 2012}
    assert done("search", pets, "--code", "0e", "--where", "year = 1") == ""


def test_search_by_id_leaves_the_item_out(pets: Path, tmp_path: Path) -> None:
    for name, wanted in (("a", ["d", "b", "c"]), ("d", ["a", "b", "c"])):
        for k in (1, 2, 3, 10):
            lines = done("search", pets, "--id", name, "-k", k).splitlines()
            assert [line.split("\t")[1] for line in lines] == wanted[:k]
    lines = done("search", pets, "--id", "a", "--radius", 1).splitlines()
    assert [line.split("\t")[1] for line in lines] == ["d", "b"]
    numbered = tmp_path / "n.jsonl"
    numbered.write_text('{"id": 7, "code": "01"}\n{"id": 8, "code": "03"}\n')
    done("index", "create", tmp_path / "n", "--bits", 8)
    done("index", "add", tmp_path / "n", numbered)
    assert done("search", tmp_path / "n", "--id", "7") == "1\t8\t{}\n"
    assert "ids of this index are integers, got 'x'" in refused("search", tmp_path / "n", "--id", "x")


def test_searches_that_cannot_be(pets: Path) -> None:
    assert "id 'x' is not in the index" in refused("search", pets, "--id", "x")
    assert "k is a positive whole number, got 0" in refused("search", pets, "--code", "00", "-k", 0)
    assert "k is a positive whole number, got 0" in refused("search", pets, "--id", "a", "-k", 0)
    assert "a 8-bit code has 1" in refused("search", pets, "--code", "0000")
    assert "expected a number" in refused("search", pets, "--code", "00", "--where", "year =")
    assert "there is no kinhash index at" in refused("search", pets / "no", "--code", "00")
    for wrong in ([], ["--image", "x.png"], ["--code", "00", "-k", 1, "--radius", 1]):
        assert run("search", pets, *wrong).exit_code == 2


def test_pictures_through_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from PIL import Image

    from kinhash.data.preprocessing import Preprocessing
    from kinhash.models import HashEncoder, HashNetwork

    torch.manual_seed(0)
    encoder = HashEncoder(HashNetwork("wrn10-1", 24, 3), preprocessing=Preprocessing(8))
    encoder.save(tmp_path / "encoder")
    photos = tmp_path / "photos"
    (photos / "sub").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in ("a.png", "sub/b.png", "c.png"):
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(photos / name)
    (photos / "broken.png").write_text("no picture")
    (photos / "phone.heic").touch()
    monkeypatch.chdir(tmp_path)
    device = ("--device", "cpu")
    done("index", "create", tmp_path / "i", "--bits", 24)
    result = run(
        "index", "add", tmp_path / "i", "photos", "--encoder", tmp_path / "encoder", "--json", *device
    )
    assert result.exit_code == 0, result.exception
    card = json.loads(result.stdout)
    assert card["added"] == 3
    assert [picture["id"] for picture in card["broken"]] == ["phone.heic", "broken.png"]
    assert "left out broken.png" in result.stderr
    with kh.Index.open(tmp_path / "i") as index:
        assert index.items()[0].tolist() == ["a.png", "c.png", "sub/b.png"]
        assert index.get("a.png").metadata == [
            {"path": str(photos / "a.png")}
        ]  # from whichever folder it is served
        assert index.get("a.png").codes == encoder.encode(photos / "a.png")
    query = ("--encoder", tmp_path / "encoder", "-k", 1, *device)
    for name in ("a.png", "sub/b.png"):
        hits = json.loads(done("search", tmp_path / "i", "--image", photos / name, *query, "--json"))
        assert [hit["distance"] for hit in hits["answers"][0]["hits"]] == [0]
    said = refused("search", tmp_path / "i", "--image", photos / "broken.png", *query)
    assert "broken.png cannot be read" in said
    for way in ([photos], ["--image", photos]):  # never the first picture alone, without a word
        said = refused("search", tmp_path / "i", *way, *query)
        assert "is a folder: name one picture" in said or "sentence" in said
    np.save(tmp_path / "rows.npy", np.zeros((2, 8, 8, 3), np.uint8))
    said = refused("search", tmp_path / "i", "--image", tmp_path / "rows.npy", *query)
    assert "holds 2 things, and a query is one" in said
    done("index", "create", tmp_path / "j", "--bits", 8)
    said = refused("index", "add", tmp_path / "j", photos, "--encoder", tmp_path / "encoder", *device)
    assert "makes codes of 24 bits, the index" in said


@pytest.mark.skipif(sys.platform == "darwin", reason="this file system takes no such names")
def test_pictures_whose_names_are_no_unicode(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from album.albums import encoder, photo

    photo(tmp_path / "photos" / "caf\udce9.png", 1)
    encoder().save(tmp_path / "encoder")
    done("index", "create", tmp_path / "i", "--bits", 32)
    done("index", "add", tmp_path / "i", tmp_path / "photos", "--encoder", tmp_path / "encoder")
    with kh.Index.open(tmp_path / "i") as index:
        assert index.get(r"caf\udce9.png").metadata == [{"path": rf"{tmp_path}/photos/caf\udce9.png"}]


# ---- dedup ---------------------------------------------------------------------------------------------


def test_dedup(pets: Path) -> None:
    result = run("dedup", pets, "--radius", 1)
    assert result.stdout == "a\tb\td\n"
    assert "3 pairs within 1 bit: 1 group of 3 items among 4" in result.stderr
    assert done("dedup", pets, "--quiet", "--pairs") == "0\ta\td\n"
    card = json.loads(done("dedup", pets, "--radius", 1, "--json"))
    assert (card["pairs"], card["groups"]) == (3, [["a", "b", "d"]])
    card = json.loads(done("dedup", pets, "--radius", 1, "--json", "--pairs", "--where", "label = 'cat'"))
    assert card["pairs"] == [["a", "d", 0]]
    assert "a radius is a whole number from 0 to 8" in refused("dedup", pets, "--radius", 9)


# ---- real processes ------------------------------------------------------------------------------------


def process(*arguments: Any) -> subprocess.CompletedProcess[str]:
    code = "from kinhash.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)


def test_exit_codes_and_streams(pets: Path) -> None:
    found = process("search", pets, "--code", "0f", "-k", 1)
    assert (found.returncode, found.stdout.split("\t")[:2], found.stderr) == (0, ["0", "a"], "")
    wrong = process("search", pets, "--code", "0f0f")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("kinhash: ")
    assert wrong.stderr.count("\n") == 1
    assert process("search", pets).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["search", "--code", "0f"], ["search", "--code", "0f", "--json"]])
def test_a_full_disk_behind_stdout_is_one_sentence(pets: Path, arguments: list[str]) -> None:
    code = "from kinhash.cli import main; main()"
    command = [sys.executable, "-c", code, arguments[0], str(pets), *arguments[1:]]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert found.returncode == 1
    assert found.stderr == "kinhash: what was to be written: No space left on device\n"


def test_searching_does_not_import_torch(pets: Path) -> None:
    code = "import sys; from kinhash.cli import main; main(); print('torch' in sys.modules)"
    for arguments in (["search", pets, "--code", "0f", "-k", 1], ["dedup", pets], ["index", "stats", pets]):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout.endswith("\nFalse\n"), done.stderr


@pytest.mark.parametrize(
    "command",
    [["index", verb] for verb in ("create", "add", "delete", "compact", "verify", "stats")]
    + [["search"], ["dedup"]],
)
def test_help_has_examples(command: list[str]) -> None:
    text = done(*command, "--help")
    assert f"kinhash {' '.join(command)} " in text[text.index("Examples:") :]
    assert "--json" in text
