"""Downloads from a server on this machine that answers badly: what arrives in the end is right, or an error says why not."""

from __future__ import annotations

import hashlib
import http.server
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kinhash.data.download import Archive, fetch
from kinhash.errors import FormatError, NotFoundError, StorageError

CONTENT = np.random.default_rng(0).bytes(300_000)


class Server:
    """Serves CONTENT; `faults` are used up one per request, `ranges` records what was asked for."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.ranges: list[str | None] = []
        self.knows_ranges = True
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/x.tar.gz"

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        fault = self.faults.pop(0) if self.faults else ""
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.knows_ranges else 0
        if fault == "404":
            request.send_error(404)
            return
        if start > len(CONTENT):
            request.send_error(416)
            return
        body = CONTENT[start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if fault == "cut":
            body = body[: len(body) // 2]
        if fault == "other":
            body = bytes(len(body))
        if fault == "silent":
            self.released.wait(20)
            return
        request.wfile.write(body)


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    thread = threading.Thread(target=one.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield one
    one.released.set()
    one.http.shutdown()
    one.http.server_close()
    thread.join()


@pytest.fixture
def archive(server: Server) -> Archive:
    return Archive("x.tar.gz", server.url, hashlib.md5(CONTENT).hexdigest())


def test_what_is_there_is_not_downloaded_again(server: Server, archive: Archive, tmp_path: Path) -> None:
    for _ in range(2):
        assert fetch(archive, tmp_path / "new" / "place").read_bytes() == CONTENT
    assert server.ranges == [None]
    assert [path.name for path in (tmp_path / "new" / "place").iterdir()] == ["x.tar.gz"]


def test_a_broken_connection_is_taken_up_where_it_broke(
    server: Server, archive: Archive, tmp_path: Path
) -> None:
    server.faults = ["cut", "cut"]
    assert fetch(archive, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=150000-", "bytes=225000-"]


def test_the_next_call_goes_on(server: Server, archive: Archive, tmp_path: Path) -> None:
    server.faults = ["cut", "404"]
    with pytest.raises(NotFoundError, match="HTTP Error 404"):
        fetch(archive, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz.part"]
    assert fetch(archive, tmp_path).read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=150000-"
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]


def test_a_server_without_ranges_sends_all_of_it_again(
    server: Server, archive: Archive, tmp_path: Path
) -> None:
    server.faults, server.knows_ranges = ["cut"], False
    assert fetch(archive, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file(server: Server, archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz.part").write_bytes(bytes(400_000))
    assert fetch(archive, tmp_path).read_bytes() == CONTENT


def test_another_checksum_leaves_nothing_behind(server: Server, archive: Archive, tmp_path: Path) -> None:
    server.faults = ["other"]
    with pytest.raises(FormatError, match=r"sent is not x\.tar\.gz: .*MD5"):
        fetch(archive, tmp_path)
    assert not list(tmp_path.iterdir())
    assert fetch(archive, tmp_path).read_bytes() == CONTENT
    (tmp_path / "x.tar.gz").write_bytes(CONTENT[:-1])
    with pytest.raises(FormatError, match="remove it and try again"):
        fetch(archive, tmp_path)


def test_a_silent_server_is_given_up(server: Server, archive: Archive, tmp_path: Path) -> None:
    server.faults = ["silent"]
    started = time.monotonic()
    with pytest.raises(NotFoundError, match=r"could not be downloaded: .*timed out"):
        fetch(archive, tmp_path, timeout=0.2)
    assert time.monotonic() - started < 10
    assert not list(tmp_path.iterdir())


def test_nobody_listens(server: Server, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"127\.0\.0\.1:9/.* could not be downloaded"):
        fetch(Archive("x", "http://127.0.0.1:9/x", ""), tmp_path, timeout=2)


def test_several_at_once_download_once(server: Server, archive: Archive, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: fetch(archive, tmp_path), range(4)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert server.ranges == [None]
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]


def test_a_folder_that_cannot_be_written(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write"):
        fetch(archive, tmp_path / "file" / "folder")
