"""docs/format.md is exact: a reader written from that page alone finds what the index holds."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.histories import BITS, perform, replay, writes
from index.indexes import Model, codes_of, small_limits

from kinhash import Index
from kinhash.index import head, storage, writer

PAGE = Path(__file__).parents[2] / "docs" / "format.md"


def read_column(data: bytes, card: dict[str, Any], name: str) -> np.ndarray:
    column = card["columns"][name]
    assert column["offset"] % 4096 == 0
    raw = data[column["offset"] : column["offset"] + column["bytes"]]
    crcs = [zlib.crc32(raw[at : at + 262_144]) for at in range(0, len(raw), 262_144)]
    assert crcs == column["checksums"]
    values = np.frombuffer(raw, column["dtype"])
    return values if column["width"] is None else values.reshape(-1, column["width"])


def read_texts(data: bytes, card: dict[str, Any], name: str) -> list[str]:
    offsets, raw = (read_column(data, card, f"{name}.{part}") for part in ("offsets", "bytes"))
    return [raw[a:b].tobytes().decode() for a, b in itertools.pairwise(offsets)]


def read_segment(path: Path, checksum: int, count: int) -> list[tuple[Any, int, dict[str, Any]]]:
    """(id, code, metadata) of every row."""
    data = path.read_bytes()
    magic, version, rows, start, length, crc, own = struct.unpack_from("<8sIQQQII", data)
    assert (magic, version, rows) == (b"kinhash\n", 1, count)
    assert own == checksum == zlib.crc32(data[:40])
    assert data[44:64] == bytes(20)
    assert start + length == len(data)
    assert zlib.crc32(data[start:]) == crc
    card = json.loads(data[start:])
    attributes = card["attributes"]
    assert attributes["bits"] == BITS
    if attributes["ids"] == "str":
        ids: list[Any] = read_texts(data, card, "ids")
        keys, order = read_column(data, card, "keys"), read_column(data, card, "order")
        assert sorted(order) == list(range(rows))
        assert (np.diff(keys.astype(np.int64)) >= 0).all()
        assert all(zlib.crc32(ids[row].encode()) == key for key, row in zip(keys, order, strict=True))
    elif "first_id" in attributes:
        ids = list(range(attributes["first_id"], attributes["first_id"] + rows))
    else:
        ids = read_column(data, card, "ids").tolist()
    assert ids == sorted(ids)
    items: list[dict[str, Any]] = [{} for _ in range(rows)]
    for number, entry in enumerate(attributes["metadata"]):
        name = f"meta.{number}"
        values: list[Any] = read_column(data, card, name).tolist()
        if entry["kind"] in ("str", "json"):
            texts = read_texts(data, card, f"{name}.words")
            assert texts == sorted(texts)
            values = [texts[value] for value in values]
        if entry["kind"] == "json":
            values = [json.loads(value) for value in values]
        listed = f"{name}.rows" in card["columns"]
        places = read_column(data, card, f"{name}.rows").tolist() if listed else range(rows)
        for row, value in zip(places, values, strict=True):
            items[row][entry["key"]] = value
        if f"{name}.nulls" in card["columns"]:
            for row in read_column(data, card, f"{name}.nulls").tolist():
                items[row][entry["key"]] = None
    words = read_column(data, card, "codes")
    numbers = [int.from_bytes(row.tobytes(), "little") for row in words]
    return list(zip(ids, numbers, items, strict=True))


def read_index(folder: Path) -> Model:
    raw = (folder / "head").read_bytes()
    assert len(raw) == 64
    magic, version, bits, commit, size, crc, closed = struct.unpack_from("<8sIIQQII", raw)
    assert (magic, version, bits, closed) == (b"kinindex", 1, BITS, 1)
    assert raw[40:60] == bytes(20)
    assert struct.unpack("<I", raw[60:])[0] == zlib.crc32(raw[:60])
    manifest = (folder / "manifest.sqlite").read_bytes()
    assert (len(manifest), zlib.crc32(manifest)) == (size, crc)
    db = sqlite3.connect(folder / "manifest.sqlite")

    def intact(place: str, body: bytes, crc: int) -> bool:
        return crc == zlib.crc32(place.encode() + body)

    state = {}
    for name, body, crc in db.execute("SELECT * FROM state"):
        assert intact(name, body.encode(), crc)
        state[name] = (json.loads(body), crc)
    at, layout = state["commit"][0], state["layout"][0]
    assert (at["commit"], at["layout"], layout["bits"]) == (commit, state["layout"][1], BITS)
    dead: dict[int, set[int]] = {entry["number"]: set() for entry in layout["segments"]}
    for seq, segment, rows, crc in db.execute("SELECT * FROM dead"):
        assert intact(f"dead {seq} {segment}", rows, crc)
        dead[segment] |= set(np.frombuffer(rows, "<i8").tolist())
    model: Model = {}
    for entry in layout["segments"]:
        assert len(dead[entry["number"]]) == entry["dead"]
        path = folder / f"segment-{entry['number']:08d}.kin"
        for row, (name, code, item) in enumerate(read_segment(path, entry["checksum"], entry["rows"])):
            if row not in dead[entry["number"]]:
                assert name not in model
                model[name] = (code, item)
    log = db.execute("SELECT * FROM log WHERE seq >= ? AND seq < ? ORDER BY seq", (at["first"], at["next"]))
    entries = log.fetchall()
    assert [seq for seq, *_ in entries] == list(range(at["first"], at["next"]))
    for seq, body, crc in entries:
        assert intact(f"log {seq}", body, crc)
        length = struct.unpack_from("<I", body)[0]
        card, rest = json.loads(body[4 : 4 + length]), body[4 + length :]
        n, ids, width = card["n"], card["ids"], -(-BITS // 64)
        if ids == "int":
            ids, rest = np.frombuffer(rest[: 8 * n], "<i8").tolist(), rest[8 * n :]
        if card["op"] == "delete":
            assert rest == b""
            for name in ids:
                del model[name]
            continue
        assert len(rest) == 8 * n * width
        numbers = [int.from_bytes(rest[8 * width * i :][: 8 * width], "little") for i in range(n)]
        items = card.get("metadata") or [{}] * n
        for name, number, item in zip(ids, numbers, items, strict=True):
            assert (name in model) == (card["op"] == "replace")
            model[name] = (number, item)
    db.close()
    return model


def test_texts_as_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, large=40, entries=12, fan=4)
    model: Model = {}
    with Index.create(tmp_path / "i", BITS) as index:
        for _, write in zip(range(83), writes(5), strict=False):
            perform(index, write)
            replay(model, write)
        assert index.stats().segments
        assert index.stats().in_log
        assert index.stats().deleted
    assert read_index(tmp_path / "i") == model


def test_numbers_as_ids_and_every_kind_of_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, large=8)
    items: list[dict[str, Any]] = [
        {"i": 1, "f": 0.5, "s": "a", "j": [1, {"x": None}], "m": 1},
        {"i": 70_000, "f": 2, "s": "é", "j": True, "m": "text"},
        {"i": None, "s": ""},
        {},
    ] * 4
    with Index.create(tmp_path / "i", BITS) as index:
        for ids in (np.arange(16), np.arange(100, 132, 2)):
            index.add(ids, codes_of(ids.tolist(), BITS), items)
        index.delete([3, 100])
        index.add([-5], codes_of([9], BITS))
        index.replace([4], codes_of([5], BITS), [{"new": 1}])
        stats = index.stats()
        assert (stats.segments, stats.in_log) == (2, 2)
    model = {int(n): (int(n), items[i % 16]) for i, n in enumerate([*range(16), *range(100, 132, 2)])}
    del model[3], model[100]
    model |= {-5: (9, {}), 4: (5, {"new": 1})}
    assert read_index(tmp_path / "i") == model


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", BITS) as index:
        index.add([7, 8], codes_of([1, 0xABCDE], BITS))
        index.compact()
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    segment = str(next((tmp_path / "i").glob("segment-*")))
    done = subprocess.run([sys.executable, "-c", script, segment], capture_output=True, text=True)
    assert done.stdout == "7 010000\n8 debc0a\n", done.stderr


def test_the_page_states_the_versions_and_limits() -> None:
    page = PAGE.read_text()
    assert head.VERSION == storage.VERSION == 1
    assert "format version 1" in page
    assert f"{storage.BLOCK:,} bytes" in page
    for limit in (writer.LARGE, writer.MOST_ENTRIES, writer._MERGED):
        assert f"{limit:,}" in page
