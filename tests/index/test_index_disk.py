"""The disk: how often it is asked to be certain, and what happens when it is full or says no."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.indexes import codes_of

from kinhash import Codes, Index
from kinhash.errors import StorageError
from kinhash.index import creation, storage, writer

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import fsync_probe  # noqa: E402

COUNTED = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
import fsync_probe, kinhash as kh
count, index = fsync_probe.Count(), kh.Index.create(sys.argv[1], 64)
codes = kh.Codes(np.random.default_rng(0).integers(0, 2**63, (1000, 1), dtype=np.uint64), 64)
each = []
for batch in range(int(sys.argv[3])):
    before = count.read()
    index.add(np.arange(1000 * batch, 1000 * (batch + 1)), codes)
    each.append(count.read() - before)
print(json.dumps({"each": each, "segments": index.stats().segments}))
"""


@pytest.mark.skipif(not fsync_probe.available(), reason="needs Linux and a C compiler")
def test_a_batch_of_a_thousand_costs_at_most_four_fsyncs(tmp_path: Path) -> None:
    batches = 700  # enough for folds, a merge of eight segments, and the manifest's own log to be moved
    variables = fsync_probe.environment(tmp_path, microseconds=0)
    command = [sys.executable, "-c", COUNTED, str(tmp_path / "i"), str(TOOLS), str(batches)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    each = found["each"][1:]  # the first one opens the index for writing
    assert found["segments"] < batches * 1000 // writer.LARGE
    assert min(each) == 1
    assert max(each) <= 4
    assert sum(each) / len(each) < 1.2


# ---- no room -------------------------------------------------------------------------------------------


def add_until_full(index: Index, codes: Codes) -> tuple[int, str]:
    """How many were acknowledged, and the error."""
    added = 0
    while True:
        try:
            index.add(np.arange(added, added + len(codes)), codes)
        except StorageError as error:
            return added, str(error)
        added += len(codes)


def fill(folder: Path, limit: int, rows: int, told: Any) -> None:
    """In a process whose files may not grow beyond `limit` bytes: add until the disk says no, then look."""
    try:
        codes = Codes(np.arange(rows, dtype=np.uint64)[:, None], 64)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        index = Index.open(folder)
        added, message = add_until_full(index, codes)
        assert len(index) == added
        with pytest.raises(StorageError):
            index.add(np.arange(added, added + rows), codes)
        assert len(index) == added
        assert index.verify().items == added
        named = {entry.number for entry in index._view.state.layout.segments}
        assert len(list(folder.glob("segment-*.kin"))) == len(named)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        index.add(np.arange(added, added + rows), codes)  # there is room again
        index.delete([0])
        index.close()
        told.send((added + rows - 1, message))
    except BaseException:
        told.send((-1, traceback.format_exc()))


@pytest.mark.parametrize(("limit", "rows"), [(400_000, 200), (3_000_000, 70_000), (900_000, 3000)])
def test_a_full_disk_loses_nothing(tmp_path: Path, limit: int, rows: int) -> None:
    Index.create(tmp_path / "i", 64).close()
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=fill, args=(tmp_path / "i", limit, rows, theirs)
    )
    process.start()
    items, message = ours.recv()
    process.join()
    assert items >= 0, message
    assert "Nothing was changed" in message
    with Index.open(tmp_path / "i") as index:
        assert index.verify().items == len(index) == items


@pytest.fixture
def small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    mounted = shutil.which("mount") and os.geteuid() == 0
    if not mounted or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder]).returncode:
        folder.rmdir()
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)
    folder.rmdir()


@pytest.mark.parametrize("rows", [500, 66_000])
def test_no_space_left_on_device(small_disk: Path, rows: int) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(300_000))
    codes = Codes(np.arange(rows, dtype=np.uint64)[:, None], 64)
    index = Index.create(small_disk / "i", 64)
    added, message = add_until_full(index, codes)
    assert re.search(r"(No space left|full).*Nothing was changed", message)
    assert added
    assert len(index) == added == index.verify().items
    with pytest.raises(StorageError):
        index.compact() if rows > 60_000 else index.add(np.arange(added, added + rows), codes)
    index.close()
    with Index.open(small_disk / "i", read_only=True) as reader:
        assert len(reader) == added == reader.verify().items
    filler.unlink()
    with Index.open(small_disk / "i") as again:
        again.add([-1], codes[:1])
        assert len(again) == added + 1 == again.verify().items


def test_an_error_while_a_segment_is_written_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index.create(tmp_path / "i", 64)
    index.add([1], codes_of([1], 64))
    real = os.fsync

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(
        StorageError, match=r"segment-00000001.kin: No space left on device. Nothing was changed"
    ):
        index.compact()
    monkeypatch.setattr(storage.os, "fsync", real)
    assert not list((tmp_path / "i").glob("segment-*"))
    assert len(index) == 1
    index.compact()
    assert index.verify().items == 1
    index.close()


@pytest.mark.parametrize("existed", [True, False])
def test_an_index_that_could_not_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existed: bool
) -> None:
    path = tmp_path / "i"
    if existed:
        path.mkdir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(creation, "create_head", full)
        with pytest.raises(StorageError, match=r"cannot create an index at .*i: No space left on device"):
            Index.create(path, 64)
    assert path.exists() == existed
    Index.create(path, 64).close()


# ---- no permission -------------------------------------------------------------------------------------


def as_somebody_else(action: Callable[[], None]) -> None:
    """Run in a child that is not root: permissions mean nothing to root."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            action()
        except BaseException:
            os.write(sending, traceback.format_exc().encode())
        os._exit(0)
    os.close(sending)
    with open(receiving, "rb") as said:
        text = said.read().decode()
    os.waitpid(child, 0)
    assert not text, text


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that others may read and pass through, but not write to; an index inside."""
    outer = Path(tempfile.mkdtemp())
    outer.chmod(0o755)
    with Index.create(outer / "i", 8) as index:
        index.add([1, 2], codes_of([1, 2], 8))
        index.search(codes_of([1], 8), 1)  # whatever is imported late is imported now
        index.compact()
    (outer / "i").chmod(0o555)
    yield outer / "i"
    (outer / "i").chmod(0o755)
    shutil.rmtree(outer)


def test_reading_needs_no_permission_to_write(locked: Path) -> None:
    def look() -> None:
        with Index.open(locked, read_only=True) as index:
            assert index.search(codes_of([3], 8), 2).ids.tolist() == [[1, 2]]
            assert index.verify().items == 2
            with pytest.raises(StorageError, match=r"read_only=True: open it without to write"):
                index.delete([1])
        with Index.open(locked) as index, pytest.raises(StorageError, match=r"cannot write to .*: "):
            index.delete([1])
        with pytest.raises(StorageError, match=r"cannot create an index at .*Permission denied"):
            Index.create(locked.parent / "new", 8)

    as_somebody_else(look)
    with Index.open(locked) as index:
        assert len(index) == 2


def test_a_reader_without_permission_follows_a_writer(locked: Path) -> None:
    locked.chmod(0o755)
    with Index.open(locked) as writing:
        writing.add([3], codes_of([3], 8))

        def look() -> None:
            with Index.open(locked, read_only=True) as index:
                assert len(index) == 3

        as_somebody_else(look)
        writing.add([4], codes_of([3], 8))
    with Index.open(locked) as index:
        assert len(index) == 4


def test_files_that_may_not_be_read(locked: Path) -> None:
    segment = next(locked.glob("segment-*.kin"))
    segment.chmod(0)

    def look() -> None:
        with pytest.raises(StorageError, match=r"cannot read .*segment-\d+.kin: Permission denied"):
            Index.open(locked, read_only=True)

    as_somebody_else(look)
