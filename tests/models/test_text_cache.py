"""Vectors on disk: they come back bit for bit or not at all, whatever happens to the file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kinhash.data.download import cache_folder
from kinhash.models.text_cache import TextCacheWarning, VectorCache, default_cache

KEY, OTHER = b"k" * 16, b"o" * 16
VECTOR = np.linspace(-1, 1, 8, dtype=np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "deep" / "folder")


def test_what_was_put_is_got(cache: VectorCache) -> None:
    assert cache.get([KEY]) == {}
    cache.put({KEY: VECTOR})
    found = VectorCache(cache.path.parent).get([OTHER, KEY])
    assert list(found) == [KEY]
    assert found[KEY].dtype == np.float32
    assert np.array_equal(found[KEY], VECTOR)
    cache.put({KEY: 2 * VECTOR})
    assert np.array_equal(cache.get([KEY])[KEY], 2 * VECTOR)


def test_more_keys_than_one_question_holds(cache: VectorCache) -> None:
    many = {i.to_bytes(16): np.full(4, i, np.float32) for i in range(1201)}
    cache.put(many)
    found = cache.get(list(many))
    assert len(found) == 1201
    assert all(np.array_equal(found[key], many[key]) for key in many)


@pytest.mark.parametrize(
    "change", ["substr(value, 1, 3) || x'55' || substr(value, 5)", "x'01'", "'text'", "NULL"]
)
def test_a_damaged_row_is_no_row(cache: VectorCache, change: str) -> None:
    cache.put({KEY: VECTOR, OTHER: VECTOR})
    with sqlite3.connect(cache.path) as db:
        db.execute(f"UPDATE vectors SET value = {change} WHERE key = ?", [KEY])
    db.close()
    assert list(cache.get([KEY, OTHER])) == [OTHER]
    cache.put({KEY: VECTOR})
    assert np.array_equal(cache.get([KEY])[KEY], VECTOR)


@pytest.mark.parametrize("where", ["head", "pages"])
def test_a_damaged_file_is_begun_anew(cache: VectorCache, where: str) -> None:
    keys = [i.to_bytes(16) for i in range(500)]
    cache.put(dict.fromkeys(keys, VECTOR))
    raw = bytearray(cache.path.read_bytes())
    raw[slice(0, 50) if where == "head" else slice(4096, None)] = b"\xff" * (
        50 if where == "head" else len(raw) - 4096
    )
    cache.path.write_bytes(raw)
    with pytest.warns(TextCacheWarning, match="is damaged .* and begun anew"):
        assert cache.get(keys) == {}
    cache.put({KEY: VECTOR})
    assert np.array_equal(cache.get([KEY])[KEY], VECTOR)


def test_where_there_can_be_no_cache_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = VectorCache(tmp_path / "file")
    with pytest.warns(TextCacheWarning, match="cannot be used, work goes on without it"):
        assert cache.get([KEY]) == {}
    cache.put({KEY: VECTOR})  # said once
    assert cache.get([KEY]) == {}


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, limit=200_000)
    vectors = {i.to_bytes(16): np.full(256, i, np.float32) for i in range(600)}
    keys = list(vectors)
    for start in range(0, 600, 50):
        cache.put({key: vectors[key] for key in keys[start : start + 50]})
    assert cache.path.stat().st_size < 300_000
    left = cache.get(keys)
    assert 50 <= len(left) < 200
    assert set(left) == set(keys[-len(left) :])


def test_two_processes_at_once(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import numpy as np
from kinhash.models.text_cache import VectorCache
cache, own = VectorCache(Path(sys.argv[1])), int(sys.argv[2])
for i in range(100):
    cache.put({(1000 * own + i).to_bytes(16): np.full(4, i, np.float32), i.to_bytes(16, "little"): np.ones(4)})
"""
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path)]
    running = [subprocess.Popen([*command, str(own)]) for own in (1, 2)]
    assert [process.wait() for process in running] == [0, 0]
    found = VectorCache(tmp_path).get([(1000 * own + i).to_bytes(16) for own in (1, 2) for i in range(100)])
    assert len(found) == 200


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = default_cache(True)
    assert made is not None
    assert made.path.parent == cache_folder() / "text" == tmp_path / "kinhash" / "text"
    assert default_cache(False) is None
    elsewhere = default_cache(str(tmp_path / "x"))
    assert elsewhere is not None
    assert elsewhere.path.parent == tmp_path / "x"
