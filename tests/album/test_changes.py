"""What happened to a folder, found from paths, sizes, time stamps and contents."""

from __future__ import annotations

import random

import pytest

from kinhash.album.changes import Changes, compare
from kinhash.album.records import Record, Unreadable
from kinhash.data.walking import Found

Disk = dict[str, tuple[str, int]]  # path -> (content, time stamp); the size is that of the content


def compared(records: list[Record], disk: Disk, **more: object) -> tuple[Changes, list[str]]:
    read: list[str] = []

    def fingerprint(path: str) -> str:
        read.append(path)
        return disk[path][0]

    files = [Found(path, len(content), stamp) for path, (content, stamp) in sorted(disk.items())]
    return compare(records, files, fingerprint, **more), read  # type: ignore[arg-type]


def record(name: str, path: str, content: str, stamp: int = 1) -> Record:
    return Record(name, path, len(content), stamp, content)


def test_nothing_is_read_where_nothing_has_changed() -> None:
    changes, read = compared([record("a", "a", "xx")], {"a": ("xx", 1)})
    assert (changes.unchanged, read) == (1, [])
    assert changes == Changes(unchanged=1)


def test_new_edited_touched_and_removed() -> None:
    records = [record(name, name, name * 3) for name in ("edited", "touched", "gone")]
    changes, read = compared(
        records, {"edited": ("other", 2), "touched": ("touched" * 3, 2), "new": ("n", 1)}
    )
    assert [r.id for r, _ in changes.edited] == ["edited"]
    assert [r.id for r, _ in changes.touched] == ["touched"]
    assert [f.path for f in changes.new] == ["new"]
    assert [r.id for r in changes.removed] == ["gone"]
    assert set(read) == {"edited", "touched"}  # the new file has the size of no missing photo


def test_a_moved_file_is_known_by_its_content_and_only_files_of_its_size_are_read() -> None:
    changes, read = compared(
        [record("a", "old/a", "same")], {"new/b": ("same", 9), "new/c": ("longer", 9), "new/d": ("diff", 9)}
    )
    assert [(r.id, f.path) for r, f in changes.moved] == [("a", "new/b")]
    assert [f.path for f in changes.new] == ["new/c", "new/d"]
    assert (changes.removed, set(read)) == ([], {"new/b", "new/d"})


def test_two_files_that_changed_places() -> None:
    changes, _ = compared([record("a", "a", "11"), record("b", "b", "22")], {"a": ("22", 5), "b": ("11", 5)})
    assert {(r.id, f.path) for r, f in changes.moved} == {("a", "b"), ("b", "a")}
    assert (changes.edited, changes.new, changes.removed) == ([], [], [])


def test_a_file_that_was_moved_away_and_replaced() -> None:
    changes, _ = compared([record("a", "a", "11")], {"a": ("33", 5), "b": ("11", 5)})
    assert [(r.id, f.path) for r, f in changes.moved] == [("a", "b")]
    assert [f.path for f in changes.new] == ["a"]


def test_a_copy_is_new_and_the_original_stays() -> None:
    changes, read = compared([record("a", "a", "11")], {"a": ("11", 1), "copy": ("11", 5)})
    assert (changes.unchanged, [f.path for f in changes.new], changes.moved, read) == (1, ["copy"], [], [])


def test_what_could_not_be_read_is_not_tried_again_until_it_changes() -> None:
    known = {"bad": Unreadable("bad", "it is empty", 0, 1)}
    changes, _ = compared([], {"bad": ("", 1)}, unreadable=known)
    assert (changes.new, changes.still_unreadable) == ([], list(known.values()))
    assert [f.path for f in compared([], {"bad": ("x", 2)}, unreadable=known)[0].new] == ["bad"]


def test_photos_below_a_folder_that_nobody_may_look_into_stay() -> None:
    records = [record("1", "locked/1", "11"), record("2", "locked2/2", "22")]
    changes, _ = compared(records, {}, hidden=["locked"])
    assert [r.id for r in changes.removed] == ["2"]


@pytest.mark.parametrize("seed", range(30))
def test_any_history_ends_with_records_that_are_the_folder(seed: int) -> None:
    """Every file gets exactly one record with its content; contents that stay in the folder keep an id they had."""
    rng = random.Random(seed)
    contents = [f"{i}" * rng.randint(1, 2) for i in range(6)]
    disk: Disk = {f"f{i}": (rng.choice(contents), 1) for i in range(6)}
    records = [record(path, path, content) for path, (content, _) in disk.items()]
    for stamp in range(2, 12):
        for _ in range(rng.randint(1, 4)):
            path, other = rng.choice("abcdef"), rng.choice(sorted(disk) or ["a"])
            action = rng.choice(["write", "remove", "move", "swap"])
            if action == "write":
                disk[path] = (rng.choice(contents), stamp)
            elif action == "remove":
                disk.pop(other, None)
            elif action == "move" and other in disk:
                disk[path] = disk.pop(other)
            elif path in disk and other in disk:
                disk[path], disk[other] = disk[other], disk[path]
        # whoever writes two contents of one size at one path at one time stamp cannot be noticed
        disk = {path: (content, stamp) for path, (content, _) in disk.items()}
        changes, _ = compared(records, disk)
        before = {r.id: r.content for r in records}
        kept = {r.id: r for r in records if r.id not in {gone.id for gone in changes.removed}}
        for old, file in [*changes.touched, *changes.moved, *changes.edited]:
            kept[old.id] = Record(old.id, file.path, file.size, file.modified, disk[file.path][0])
        for number, file in enumerate(changes.new):
            name = f"{stamp}-{number}"
            kept[name] = Record(name, file.path, file.size, file.modified, disk[file.path][0])
        records = list(kept.values())
        assert sorted((r.path, r.content) for r in records) == sorted((p, c) for p, (c, _) in disk.items())
        for old, _ in changes.moved:
            assert kept[old.id].content == before[old.id]
        lost = {before[r.id] for r in changes.removed}
        assert not lost & {disk[f.path][0] for f in changes.new}, "a content was removed and added again"
