"""Damaged files: an error that names the file, or the right answer; never a wrong one."""

from __future__ import annotations

import os
import random
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from index.histories import BITS, QUERIES, perform, replay, same, writes
from index.indexes import Model, expected, small_limits

from kinhash import Index
from kinhash.errors import FormatError, KinhashError
from kinhash.index import head, storage

Damage = Callable[[Path], None]


def build(folder: Path, patch: pytest.MonkeyPatch, *, closed: bool) -> Model:
    """An index with several segments, dead rows and a log; `closed` or as a killed writer leaves it."""
    small_limits(patch, large=40, entries=12, fan=4)
    work = folder.with_suffix(".work")
    index, model = Index.create(work, BITS, ids="str"), Model()
    for _, write in zip(range(70), (write for write in writes(4) if write.verb != "compact"), strict=False):
        perform(index, write)
        replay(model, write)
    stats = index.stats()
    assert stats.segments > 1
    assert stats.in_log
    assert stats.deleted
    if closed:
        index.close()
    shutil.copytree(work, folder)
    index.close()
    return model


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def use(folder: Path, model: Model) -> None:
    """Everything that may be asked: KinhashError, or the answers of the model."""
    with Index.open(folder) as index:
        assert same(index, model)
        hits = index.search(QUERIES[:1], len(model))
        found = list(zip(hits.distances[0].tolist(), hits.ids[0].tolist(), strict=True))
        assert found == expected(model, int(QUERIES.words[0, 0]))


def what_verify_says(folder: Path) -> str:
    """The error, or nothing."""
    try:
        with Index.open(folder, read_only=True) as index:
            index.verify()
    except KinhashError as error:
        return str(error)
    return ""


def flips_are_noticed(tmp_path: Path, patch: pytest.MonkeyPatch, per_file: int, *, closed: bool) -> None:
    whole = tmp_path / "whole"
    model = build(whole, patch, closed=closed)
    rng = random.Random(0)
    names = sorted(path.name for path in whole.iterdir() if not path.name.endswith("-shm"))
    assert ("manifest.sqlite-wal" in names) == (not closed)
    for name in names:
        for _ in range(per_file):
            bit = rng.randrange(8 * (whole / name).stat().st_size)
            copy = tmp_path / "copy"
            shutil.copytree(whole, copy)
            flip(copy / name, bit)
            noticed = what_verify_says(copy)
            assert not noticed or name.removesuffix("-wal") in noticed, (name, bit, noticed)
            # without the seal that closing sets, space that SQLite does not use may change unnoticed
            assert noticed or not (closed or name.startswith(("segment", "head"))), (name, bit)
            try:
                use(copy, model)
            except KinhashError:
                assert noticed, (name, bit)
            shutil.rmtree(copy)


@pytest.mark.parametrize("closed", [True, False])
def test_a_flipped_bit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    flips_are_noticed(tmp_path, monkeypatch, 6, closed=closed)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False])
def test_flipped_bits_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    flips_are_noticed(tmp_path, monkeypatch, 200, closed=closed)


def test_opening_notices_what_is_cheap_to_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Head, headers and directories of segments, and the state in the manifest."""
    whole = tmp_path / "whole"
    build(whole, monkeypatch, closed=True)
    segment = next(whole.glob("segment-*.kin"))
    directory = segment.read_bytes().index(b'{"attributes"')
    places = [(whole / "head", bit) for bit in range(0, 512, 5)]
    places += [(segment, bit) for bit in range(0, 512, 7)]
    places += [(segment, 8 * (directory + byte)) for byte in range(0, segment.stat().st_size - directory, 40)]
    state = (whole / "manifest.sqlite").read_bytes().index(b'{"commit"')
    places += [(whole / "manifest.sqlite", 8 * (state + byte)) for byte in range(0, 40, 3)]
    for path, bit in places:
        flip(path, bit)
        with pytest.raises(KinhashError, match=path.name):
            Index.open(whole)
        flip(path, bit)
    Index.open(whole).close()


def newer_head(folder: Path) -> None:
    """The head of a later format, intact in itself."""
    path = folder / head.NAME
    body = bytearray(path.read_bytes()[:-4])
    struct.pack_into("<I", body, 8, head.VERSION + 1)
    path.write_bytes(bytes(body) + struct.pack("<I", zlib.crc32(body)))


def newer_segment(folder: Path) -> None:
    path = next(folder.glob("segment-*.kin"))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, storage.VERSION + 1)
    struct.pack_into("<I", data, 40, zlib.crc32(data[:40]))
    path.write_bytes(data)


def no_segment(folder: Path) -> None:
    next(folder.glob("segment-*.kin")).unlink()


def other_segment(folder: Path) -> None:
    first, second = sorted(folder.glob("segment-*.kin"))[:2]
    shutil.copy(first, second)


def short_segment(folder: Path) -> None:
    path = next(folder.glob("segment-*.kin"))
    os.truncate(path, path.stat().st_size - 1)


def empty_segment(folder: Path) -> None:
    os.truncate(next(folder.glob("segment-*.kin")), 0)


def no_manifest(folder: Path) -> None:
    (folder / "manifest.sqlite").unlink()


def text_manifest(folder: Path) -> None:
    (folder / "manifest.sqlite").write_text("hello " * 1000)


def no_head(folder: Path) -> None:
    (folder / "head").unlink()


def short_head(folder: Path) -> None:
    os.truncate(folder / "head", 10)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (newer_head, r"has format 2; this kinhash reads up to 1: upgrade kinhash"),
        (newer_segment, r"segment-\d+.kin has format 2; this kinhash reads up to 1: upgrade kinhash"),
        (no_segment, r"segment-\d+.kin is missing, though the manifest names it. Restore this file"),
        (other_segment, r"segment-\d+.kin is not the segment that the manifest names"),
        (short_segment, r"segment-\d+.kin is damaged: it has \d+ bytes, the header says \d+"),
        (empty_segment, r"segment-\d+.kin is damaged: it is shorter than a header"),
        (no_manifest, r"manifest.sqlite is missing. Restore this file from a backup"),
        (text_manifest, r"manifest.sqlite is damaged: file is not a database. Restore the index"),
        (no_head, r"there is no kinhash index at .*'head' is missing. Create one"),
        (short_head, r"head is damaged: it does not match its checksum"),
    ],
)
def test_opening_says_what_is_wrong_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage, message: str
) -> None:
    whole, copy = tmp_path / "whole", tmp_path / "copy"
    model = build(whole, monkeypatch, closed=True)
    shutil.copytree(whole, copy)
    damage(copy)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    for read_only in (True, False):
        with pytest.raises(KinhashError, match=message):
            Index.open(copy, read_only=read_only)
    after = {path.name: path.read_bytes() for path in copy.iterdir()}
    assert {name: after[name] for name in before} == before
    for path in whole.iterdir():  # the backup that the message asks for
        shutil.copy(path, copy)
    use(copy, model)


def test_a_lost_write_ahead_log_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "i", monkeypatch, closed=False)
    (tmp_path / "i" / "manifest.sqlite-wal").unlink()
    with pytest.raises(FormatError, match=r"has lost acknowledged writes.*restore the index from a backup"):
        Index.open(tmp_path / "i")


def test_padding_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "i", monkeypatch, closed=True)
    path = next((tmp_path / "i").glob("segment-*.kin"))
    flip(path, 8 * 1000)
    with Index.open(tmp_path / "i") as index, pytest.raises(FormatError, match="padding before byte 4096"):
        index.verify()
