"""The face of the index: what it answers to bad input, what it keeps, what it counts."""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.indexes import codes_of, small_limits

import kinhash as kh
from kinhash import Codes, Index
from kinhash.errors import InputError, KinhashError, NotFoundError, StorageError
from kinhash.index.head import HeadFile
from kinhash.index.manifest import Manifest

ONE = codes_of([5], 8)


@pytest.fixture
def index(tmp_path: Path) -> Any:
    with Index.create(tmp_path / "i", 8) as made:
        made.add(["a", "b", "c"], codes_of([0, 1, 3], 8), [{"n": 1}, {"n": 2}, None])
        yield made


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda i: i.search(ONE, 0), InputError, "k is a positive whole number, got 0"),
        (lambda i: i.search(ONE, -1), InputError, "k is a positive whole number, got -1"),
        (lambda i: i.search(ONE, 0, fewer=True), InputError, "k is a positive whole number, got 0"),
        (lambda i: i.search(ONE, None, fewer=True), InputError, "k is a positive whole number, got None"),
        (lambda i: i.search(ONE, "x", fewer=True), InputError, "k is a positive whole number, got 'x'"),
        (lambda i: i.search(ONE, 4), InputError, "k = 4, but only 3 codes are in the database"),
        (lambda i: i.search(ONE, 2, where="n = 1"), InputError, "k = 2, but only 1 codes pass the filter"),
        (lambda i: i.search(codes_of([1], 9), 1), InputError, "queries have 9 bits and the index 8"),
        (lambda i: i.search(np.zeros((1, 1)), 1), InputError, "queries are Codes, got ndarray"),
        (lambda i: i.search(ONE, 1, where="n ="), InputError, "expected a number"),
        (lambda i: i.within(ONE, 9), InputError, "radius is a whole number from 0 to 8"),
        (lambda i: i.get("x"), NotFoundError, "id 'x' is not in the index"),
        (lambda i: i.get(["a", "x", "y"]), NotFoundError, "id 'x' and 1 more are not in the index"),
        (
            lambda i: i.add(["d"], codes_of([1], 9)),
            InputError,
            "codes of 9 bits do not fit an index of 8 bits",
        ),
        (lambda i: i.add(["d", "e"], ONE), InputError, "2 ids for 1 codes"),
        (lambda i: i.add(["d"], [5]), InputError, "codes are Codes, got list"),
        (lambda i: i.add([4], ONE), InputError, "ids of this index are strings, got integers"),
        (lambda i: i.add(["a"], ONE), InputError, "id 'a' is in the index already: use replace"),
        (lambda i: i.add(["d", "d"], codes_of([1, 2], 8)), InputError, "'d' occurs twice in one call"),
        (lambda i: i.add(["d"], ONE, [{"a": "\ud800"}]), InputError, "not valid Unicode text"),
        (lambda i: i.add(["d"], ONE, [1]), InputError, "metadata of item 0 is a int, not a dict"),
        (lambda i: i.replace(["a", "x"], codes_of([1, 2], 8)), NotFoundError, "'x'.*nothing was changed"),
        (lambda i: i.delete(["a", "x"]), NotFoundError, "'x' is not in the index: nothing was changed"),
        (lambda i: i.delete([1]), InputError, "ids of this index are strings"),
    ],
)
def test_mistakes_are_named_and_change_nothing(
    index: Index, action: Callable[[Index], Any], error: type[KinhashError], message: str
) -> None:
    with pytest.raises(error, match=message):
        action(index)
    ids, codes = index.items()
    assert ids.tolist() == ["a", "b", "c"]
    assert codes == codes_of([0, 1, 3], 8)
    assert index.get(["a", "b", "c"]).metadata == [{"n": 1}, {"n": 2}, {}]
    index.add(["d"], ONE)
    assert index.verify().items == 4


def test_one_item_as_a_batch_or_alone(index: Index) -> None:
    index.add(["d"], ONE, {"n": [7]})
    index.add(["e"], ONE, {"n": np.array([7])})
    index.replace(["a"], ONE, {"n": np.array(["x"])})
    index.add("f", ONE, {"n": [7]})
    assert index.get(["a", "d", "e", "f"]).metadata == [{"n": "x"}, {"n": 7}, {"n": 7}, {"n": [7]}]
    assert index.count("n = 7") == 2
    index.add(["g"], ONE, {})
    with pytest.raises(InputError, match="column 'n' is no sequence; pass one dict per id"):
        index.add(["h"], ONE, {"n": 7})


@pytest.mark.parametrize(
    ("bits", "ids", "message"),
    [
        (0, None, "from 1 to 512"),
        (True, None, "whole number of bits"),
        (513, None, "from 1 to 512"),
        (1024, None, "from 1 to 512"),
        (8, "text", '"int", "str" or None'),
    ],
)
def test_an_index_that_cannot_be(tmp_path: Path, bits: Any, ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Index.create(tmp_path / "i", bits, ids=ids)
    assert not (tmp_path / "i").exists()


def test_an_index_is_a_folder_of_its_own(tmp_path: Path) -> None:
    Index.create(tmp_path / "i", 8).close()
    with pytest.raises(InputError, match="is an index already: open it"):
        Index.create(tmp_path / "i", 8)
    with pytest.raises(InputError, match="is not empty"):
        Index.create(tmp_path, 8)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        Index.create(tmp_path / "file", 8)
    for place in ("file", "nowhere"):
        with pytest.raises(NotFoundError, match="there is no kinhash index at"):
            Index.open(tmp_path / place)


@pytest.mark.parametrize("path", ["a\0b", 5, None])
def test_a_path_that_names_no_folder(path: Any) -> None:
    for use in (Index.open, lambda place: Index.create(place, 8)):
        with pytest.raises(InputError, match="named by a path without NUL characters, got"):
            use(path)


def test_integer_ids_are_named_as_what_they_are(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", 8) as index:
        index.add([1], ONE)
        for use in (index.get, index.delete, lambda ids: index.replace(ids, ONE)):
            with pytest.raises(NotFoundError, match="id -5 is not in the index"):
                use([-5])
        with pytest.raises(InputError, match="id 1 is in the index already"):
            index.add([1], ONE)


def test_an_empty_index_answers(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", 8) as index:
        assert len(index) == 0
        assert index.ids_kind is None
        assert "a" not in index
        assert index.search(ONE, 3, fewer=True).ids.shape == (1, 0)
        assert index.within(ONE, 8).offsets.tolist() == [0, 0]
        assert index.count() == 0
        assert index.items()[0].tolist() == []
        assert index.verify().items == 0
        index.add([], Codes(np.empty((0, 1), np.uint64), 8))
        index.delete([])
        index.compact()
        with pytest.raises(InputError, match="only 0 codes"):
            index.search(ONE, 1)
        assert index.stats().commit == 0


def test_contains_repr_and_counts(index: Index) -> None:
    assert "a" in index
    assert all(name not in index for name in ("x", 1, "", True, None, 1.5))
    assert repr(index).endswith("i': 3 codes of 8 bits)")
    assert (index.stats().in_log, index.stats().segments) == (3, 0)
    index.compact()
    index.delete(["b"])
    stats = index.stats()
    assert (stats.items, stats.bits, stats.ids, stats.deleted, stats.segments) == (2, 8, "str", 1, 1)
    assert stats.metadata == {"n": "int"}
    index.compact()
    stats = index.stats()
    assert (stats.segments, stats.scans, stats.deleted, stats.in_log) == (1, 1, 0, 0)
    index.add(["z"], ONE)
    files = [path for path in index.path.iterdir() if not path.name.endswith("-shm")]
    assert index.stats().bytes == index.verify().bytes == sum(path.stat().st_size for path in files)


def test_compact_leaves_nothing_of_what_was_deleted(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i", 8) as index, Index.open(tmp_path / "i", read_only=True) as reader:
        empty = index.stats().bytes
        for start in range(0, 300, 100):
            ids = np.arange(start, start + 100)
            index.add(ids, codes_of([1] * 100, 8), [{"text": f"secret {n} " * 50} for n in ids])
        assert len(reader) == 300
        assert index.stats().bytes > 100_000
        index.delete(np.arange(300))
        index.compact()
        assert index.stats().bytes <= empty
        assert len(reader) == index.verify().items == 0
        assert index.verify().bytes == index.stats().bytes
        assert not any(b"secret" in path.read_bytes() for path in index.path.iterdir())
        index.add([1], ONE)
        assert len(reader) == 1


def test_a_disk_too_full_to_shrink_a_manifest_is_no_reason_to_fail(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Manifest) -> None:
        raise StorageError("database or disk is full")

    monkeypatch.setattr(Manifest, "shrink", full)
    index.compact()
    assert (index.stats().segments, index.verify().items) == (1, 3)


def test_a_closed_index_says_so(index: Index) -> None:
    index.close()
    index.close()
    with pytest.raises(StorageError, match="is closed: open it again"):
        len(index)
    with Index.open(index.path) as again:
        assert len(again) == 3


@pytest.mark.parametrize("rows", [3, 90])
def test_an_interrupted_write_is_there_wholly_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Ctrl-C anywhere inside: memory and disk agree afterwards."""
    small_limits(monkeypatch, large=40)
    with Index.create(tmp_path / "i", 8) as index:
        index.add(range(5), codes_of(list(range(5)), 8))
        for place in ("kinhash.index.pending.Pending.apply", "kinhash.index.head.HeadFile.write"):
            before = len(index)
            batch = np.arange(before, before + rows)
            with monkeypatch.context() as patch:

                def interrupt(*_: object) -> None:
                    raise KeyboardInterrupt

                patch.setattr(place, interrupt)
                with contextlib.suppress(KeyboardInterrupt):
                    index.add(batch, codes_of([7] * rows, 8))
            assert len(index) in (before, before + rows)
            assert index.verify().items == len(index)
            with Index.open(index.path, read_only=True) as other:
                assert len(other) == len(index)


@pytest.mark.parametrize("rows", [3, 90])
def test_readers_see_a_write_that_was_interrupted_after_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Python raises the Ctrl-C that came during the fsync when SQLite returns: the commit is made, the head is not."""
    small_limits(monkeypatch, large=40)
    with Index.create(tmp_path / "i", 8) as index:
        index.add([1000], codes_of([0], 8))
        index.compact()
        reader = Index.open(index.path, read_only=True)
        assert len(reader) == 1
        writing = Manifest._writing

        @contextlib.contextmanager
        def late(manifest: Manifest) -> Iterator[None]:
            with writing(manifest):
                yield
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Manifest, "_writing", late)
            with pytest.raises(KeyboardInterrupt):
                index.add(range(rows), codes_of([7] * rows, 8))
        assert len(index) == len(reader) == rows + 1


def test_a_writer_brings_the_head_of_a_dead_one_up_to_date(tmp_path: Path) -> None:
    Index.create(tmp_path / "i", 8).close()
    with Index.open(tmp_path / "i") as index:
        index.add(["a"], ONE)
        before = (index.path / "head").read_bytes()
        index.add(["b"], ONE)
    (index.path / "head").write_bytes(before)
    with Index.open(index.path) as index:
        assert HeadFile(index.path).read().commit == 1
        with pytest.raises(InputError, match="in the index already"):
            index.add(["b"], ONE)
        assert HeadFile(index.path).read().commit == 2


class _Interrupted:
    """A connection whose BEGIN is interrupted as it returns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        found = self._connection.execute(statement, *values)
        if statement.startswith("BEGIN"):
            raise KeyboardInterrupt
        return found


def test_an_interrupted_begin_leaves_no_transaction(index: Index) -> None:
    manifest = index._view.manifest
    connection = manifest._db
    for use in (manifest.reading, manifest._writing):
        manifest._db = _Interrupted(connection)  # type: ignore[assignment]
        with contextlib.suppress(KeyboardInterrupt), use():
            pass
        manifest._db = connection
        assert not connection.in_transaction
    index.add(["d"], ONE)
    assert len(index) == 4


def test_an_interrupted_lock_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Index.create(tmp_path / "i", 8).close()
    index, lock = Index.open(tmp_path / "i"), fcntl.flock

    def late(handle: int, what: int) -> None:
        lock(handle, what)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", late)
        with pytest.raises(KeyboardInterrupt):
            index.add(["a"], ONE)
    with Index.open(tmp_path / "i") as other:
        other.add(["a"], ONE)


def test_large_writes_go_past_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, large=10)
    numbers = np.arange(30)
    with Index.create(tmp_path / "i", 8) as index:
        index.add(numbers, codes_of(numbers.tolist(), 8), {"even": numbers % 2 == 0, "n": numbers})
        assert index.stats().in_log == 0
        index.replace(numbers[:20], codes_of([255] * 20, 8), {"n": numbers[:20] + 100})
        assert index.count("n >= 100") == 20
        assert index.count("even = true") == 5
        index.delete(numbers[5:25])
        assert index.items()[0].tolist() == [*range(5), *range(25, 30)]
        index.compact()
        assert index.stats().segments == 1
        assert index.verify().items == 10
        index.delete([*range(5), *range(25, 30)])
        index.compact()
        assert index.stats().segments == 0
        assert len(index) == index.verify().items == 0


def test_the_example_of_the_docstring(tmp_path: Path) -> None:
    import doctest

    from kinhash.index import index as module

    assert doctest.testmod(module).failed == 0
    assert kh.Index is Index
