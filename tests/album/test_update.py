"""kh.photos keeps an index in step with a folder, whatever happens to either."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from album.albums import coded_encoder, digits, encoder, items, photo

import kinhash as kh
from kinhash.album.outcome import Outcome
from kinhash.album.place import index_at, place_of, sole_use
from kinhash.errors import InputError, MissingDependencyError, NotFoundError, StorageError
from kinhash.models import HashEncoder, HashNetwork
from kinhash.models.retrieval import Retrieval


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    encoder().save(folder)
    return folder


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for i in range(6):
        photo(tmp_path / "album" / f"{i // 3}" / f"{i}.png", i)
    return tmp_path / "album"


def counts(outcome: Outcome) -> tuple[int, int, int, int, int]:
    return outcome.photos, outcome.added, outcome.changed, outcome.moved, outcome.removed


def test_first_all_then_only_what_changed(album: Path, saved: Path) -> None:
    first = kh.photos(album, encoder=saved)
    assert counts(first) == (6, 6, 0, 0, 0)
    before = items(first.index)
    assert list(before) == ["0/0.png", "0/1.png", "0/2.png", "1/3.png", "1/4.png", "1/5.png"]
    direct = digits(encoder().encode([album / name for name in before]))
    assert [code for _, code in before.values()] == direct

    assert counts(kh.photos(album)) == (6, 0, 0, 0, 0)

    (album / "0/0.png").rename(album / "1/moved.png")
    photo(album / "0/1.png", 77, size=(50, 30))
    (album / "0/2.png").unlink()
    photo(album / "new.png", 99)
    again = kh.photos(album)
    assert counts(again) == (6, 1, 1, 1, 1)
    after = items(again.index)
    assert after["0/0.png"] == ("1/moved.png", before["0/0.png"][1])
    assert after["0/1.png"][1] != before["0/1.png"][1]
    assert "0/2.png" not in after
    for name in ("1/3.png", "1/4.png", "1/5.png"):
        assert after[name] == before[name]
    assert str(again).endswith("album: 6 photos, 1 added, 1 changed, 1 moved, 1 removed")
    assert str(kh.photos(album)).endswith("6 photos, nothing has changed")


def test_codes_are_those_of_the_encoder_whatever_follows_its_hash_layer(album: Path, tmp_path: Path) -> None:
    coded_encoder().save(tmp_path / "coded")
    found = items(kh.photos(album, encoder=tmp_path / "coded").index)
    direct = coded_encoder().encode([album / path for path, _ in found.values()])
    assert [code for _, code in found.values()] == digits(direct)


def test_an_encoder_that_makes_no_codes_is_refused_before_anything_is_kept(
    album: Path, tmp_path: Path
) -> None:
    floats = HashEncoder(HashNetwork("resnet8w", 0, width=8), retrieval=Retrieval("floats", "l2", "devise"))
    floats.save(tmp_path / "floats")
    with pytest.raises(InputError, match="devise retrieves with floats and makes no codes"):
        kh.photos(album, encoder=tmp_path / "floats")
    assert not place_of(album).encoder.exists()


def test_a_photo_at_the_first_place_of_another_gets_an_id_of_its_own(album: Path, saved: Path) -> None:
    kh.photos(album, encoder=saved)
    (album / "0/0.png").rename(album / "away.png")
    photo(album / "0/0.png", 50)
    outcome = kh.photos(album)
    assert counts(outcome) == (7, 1, 0, 1, 0)
    found = items(outcome.index)
    assert found["0/0.png"][0] == "away.png"
    assert found["0/0.png (2)"][0] == "0/0.png"


def test_touching_a_file_changes_nothing(album: Path, saved: Path) -> None:
    first = items(kh.photos(album, encoder=saved).index)
    os.utime(album / "0/0.png")
    assert counts(kh.photos(album)) == (6, 0, 0, 0, 0)
    assert items(index_at(album)) == first


def test_a_file_written_at_the_moment_of_looking_is_looked_at_again(album: Path, saved: Path) -> None:
    photo(album / "0/0.png", 0)
    os.utime(album / "0/0.png")  # now
    kh.photos(album, encoder=saved)
    state = (album / "0/0.png").stat()
    before = items(index_at(album))
    other = photo(album.parent / "other.png", 123).read_bytes()[: state.st_size].ljust(state.st_size, b"\0")
    (album / "0/0.png").write_bytes(other)
    os.utime(album / "0/0.png", ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time stamp
    outcome = kh.photos(album)
    assert outcome.changed + len(outcome.unreadable) == 1
    assert items(outcome.index) != before


def test_what_cannot_be_read_is_listed_and_not_tried_again(album: Path, saved: Path) -> None:
    photo(album / "spoilt.png", 5)
    kh.photos(album, encoder=saved)
    for name in ("bad.jpg", "spoilt.png"):
        (album / name).write_bytes(b"x")
        os.utime(album / name, (1, 1))
    (album / "IMG.HEIC").write_bytes(b"x")
    outcome = kh.photos(album)
    assert counts(outcome) == (6, 0, 0, 0, 1)
    reasons = dict(outcome.unreadable)
    assert set(reasons) == {"bad.jpg", "spoilt.png", "IMG.HEIC"}
    assert "3 unreadable, see " in str(outcome)
    assert outcome.listed is not None
    assert outcome.listed.read_text().splitlines()[0] == "path,reason,bytes,modified"
    assert dict(kh.photos(album).unreadable) == reasons
    for name in reasons:
        (album / name).unlink()
    assert kh.photos(album).unreadable == []
    assert not outcome.listed.exists()


def test_a_locked_folder_loses_nothing(album: Path, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kh.photos(album, encoder=saved)
    real = os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "1":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    outcome = kh.photos(album)
    assert counts(outcome) == (6, 0, 0, 0, 0)
    assert dict(outcome.unreadable) == {"1": "you have no permission to read this folder"}


def test_names_of_any_bytes(tmp_path: Path, saved: Path) -> None:
    album = os.fsencode(tmp_path / "album")
    source = photo(tmp_path / "one.png", 1)
    os.mkdir(album)
    for name in (b"caf\xe9.png", "写真 🐈\n.png".encode()):
        shutil.copy(os.fsencode(source), os.path.join(album, name))
    outcome = kh.photos(tmp_path / "album", encoder=saved)
    assert set(items(outcome.index)) == {"caf\\udce9.png", "写真 🐈\n.png"}
    assert counts(kh.photos(tmp_path / "album")) == (2, 0, 0, 0, 0)
    str(outcome).encode()


def test_the_index_may_lie_elsewhere_and_belongs_to_one_folder(
    album: Path, saved: Path, tmp_path: Path
) -> None:
    outcome = kh.photos(album, encoder=saved, index=tmp_path / "kept")
    assert not (album / ".kinhash").exists()
    assert index_at(tmp_path / "kept") == outcome.index
    photo(tmp_path / "other" / "a.png", 1)
    with pytest.raises(InputError, match="belongs to the folder"):
        kh.photos(tmp_path / "other", index=tmp_path / "kept")
    album.rename(tmp_path / "renamed")
    assert counts(kh.photos(tmp_path / "renamed", index=tmp_path / "kept")) == (6, 0, 0, 0, 0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        kh.photos(tmp_path / "renamed", encoder=saved, index=tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_another_encoder_or_length_is_refused(album: Path, saved: Path, tmp_path: Path) -> None:
    kh.photos(album, encoder=saved)
    assert counts(kh.photos(album, encoder=saved, bits=32)) == (6, 0, 0, 0, 0)
    with pytest.raises(InputError, match="codes of 32 bits, not 64"):
        kh.photos(album, bits=64)
    from kinhash.models.encoder import HashEncoder
    from kinhash.models.network import HashNetwork

    HashEncoder(HashNetwork("resnet8w", 32)).save(tmp_path / "other")
    with pytest.raises(InputError, match="made by another encoder"):
        kh.photos(album, encoder=tmp_path / "other")
    with pytest.raises(NotFoundError, match="holds no encoder"):
        kh.photos(album, encoder=tmp_path / "absent")


def test_folders_that_are_none_or_hold_nothing(tmp_path: Path, album: Path, saved: Path) -> None:
    with pytest.raises(NotFoundError, match="does not exist"):
        kh.photos(tmp_path / "absent")
    with pytest.raises(NotFoundError, match="is a file"):
        kh.photos(album / "0/0.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no photos"):
        kh.photos(tmp_path / "empty", encoder=saved)
    assert list((tmp_path / "empty").iterdir()) == []
    kh.photos(album, encoder=saved)
    for path in album.rglob("*.png"):
        if ".kinhash" not in path.parts:
            path.unlink()
    with pytest.raises(InputError, match="was left as it is"):
        kh.photos(album)
    assert len(items(index_at(album))) == 6


def test_a_second_one_at_the_same_time_is_told_to_wait(album: Path, saved: Path) -> None:
    with sole_use(place_of(album)), pytest.raises(StorageError, match="another `kinhash photos` is bringing"):
        kh.photos(album, encoder=saved)
    assert counts(kh.photos(album, encoder=saved)) == (6, 6, 0, 0, 0)


def test_an_interruption_loses_nothing(album: Path, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinhash.album.encoding.BATCH", 2)

    def interrupt(done: int, _: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kh.photos(album, encoder=saved, progress=interrupt)
    assert len(items(index_at(album))) == 4
    said: list[tuple[int, int]] = []
    assert counts(kh.photos(album, progress=lambda *now: said.append(now))) == (6, 2, 0, 0, 0)
    assert said == [(2, 2)]


_KILLED = """
import os, signal, sys
import kinhash as kh, kinhash.album.encoding as encoding
encoding.BATCH = 2
def tell(done, total):
    if done == 4:
        os.kill(os.getpid(), signal.SIGKILL)
kh.photos(sys.argv[1], encoder=sys.argv[2], progress=tell)
"""


def test_kill_9_loses_nothing(album: Path, saved: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, album, saved], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(items(index_at(album))) == 4
    outcome = kh.photos(album)
    assert counts(outcome) == (6, 2, 0, 0, 0)
    with kh.Index.open(outcome.index, read_only=True) as index:
        index.verify()


def test_killed_before_the_index_was_whole(album: Path, saved: Path) -> None:
    outcome = kh.photos(album, encoder=saved)
    (outcome.index / "head").unlink()  # it is written last
    assert counts(kh.photos(album, encoder=saved)) == (6, 6, 0, 0, 0)


_FULL = """
import resource, signal, sys
import kinhash as kh
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
kh.load_encoder(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
sys.argv = ["kinhash", "photos", sys.argv[1], "--encoder", sys.argv[2], "--no-serve", "--quiet"]
from kinhash.cli import main
main()
"""


@pytest.mark.parametrize("room", [0, 40, 30_000, 400_000])
def test_a_full_disk_is_one_sentence_and_the_next_call_goes_on(album: Path, saved: Path, room: int) -> None:
    command = [sys.executable, "-c", _FULL, str(album), str(saved), str(room)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("kinhash: cannot "), done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
    else:
        assert room > 100_000
    assert counts(kh.photos(album, encoder=saved))[0] == 6


_WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import kinhash as kh
print(kh.photos(sys.argv[1]))
"""


def test_where_nothing_is_to_be_encoded_torch_is_not_needed(album: Path, saved: Path) -> None:
    kh.photos(album, encoder=saved)
    (album / "0/0.png").rename(album / "0/zero.png")
    (album / "0/1.png").unlink()
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_TORCH, album], capture_output=True, text=True, check=True
    )
    assert "5 photos, 1 moved, 1 removed" in done.stdout


def test_what_to_install_for_the_encoder_that_nobody_named(
    album: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"kinhash\[weights-lite\]"):
        kh.photos(album)
