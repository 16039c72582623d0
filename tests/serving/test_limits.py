"""Too large, too slow, cut off: the client hears why, and memory never holds more than the limit."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from serving.colours import Colours, content, picture, serve_colours
from serving.inside import Asker, Reply, asking

from kinhash.codes import Codes
from kinhash.serving import limits, routes, searching
from kinhash.serving.app import Settings, create_app
from kinhash.serving.running import running
from kinhash.serving.served import served

UPLOAD = "/api/colours/search/picture"
MOST = 2**20


def test_a_body_of_announced_size_is_refused_unread(ask: Asker) -> None:
    def never() -> bytes | None:
        raise AssertionError("it was read")

    reply = ask.run(ask.ask("POST", UPLOAD, b"x", {"content-length": str(10**9)}))
    assert reply.status == 413
    assert reply.error == "the request is larger than the 1 MB that this server takes"
    assert reply.headers["connection"] == "close"


def test_a_body_of_unknown_size_is_refused_as_soon_as_it_is_too_large(ask: Asker) -> None:
    sent = 0

    def gigabyte() -> bytes | None:
        nonlocal sent
        sent += 2**16
        return bytes(2**16) if sent <= 2**30 else None

    tracemalloc.start()
    reply = ask.run(ask.ask("POST", UPLOAD, gigabyte))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reply.status == 413
    assert sent < MOST + limits._LINGER_BYTES + 2**18
    assert peak < 3 * MOST


def test_what_fits_goes_through_in_parts(ask: Asker) -> None:
    parts = iter([*(bytes([byte]) for byte in content(picture("red"))), None])
    assert ask.run(ask.ask("POST", UPLOAD, lambda: next(parts))).status == 200


def test_json_has_a_smaller_limit_where_uploads_may_be_large(ask: Asker, colours: Path) -> None:
    with asking(create_app([served("colours", colours / "colours.kin")])) as roomy:
        reply = roomy.post("/api/colours/get", {"ids": ["x" * (5 * 2**20)]})
        assert reply.error == "the request is larger than the 4 MB that this server takes"
    assert limits.in_words(1500) == "1.465 kB"
    assert limits.in_words(12) == "12 bytes"


@pytest.mark.parametrize(("whole", "pause"), [(0.05, 9.0), (9.0, 0.05)])
def test_a_body_that_does_not_arrive_is_given_up(
    ask: Asker, monkeypatch: pytest.MonkeyPatch, whole: float, pause: float
) -> None:
    monkeypatch.setattr(limits, "SECONDS", whole)
    monkeypatch.setattr(limits, "PAUSE", pause)
    monkeypatch.setattr(limits, "_LINGER", 0.05)

    async def stalled() -> int:
        from starlette.requests import Request

        parts = iter([b"a", b"b"])

        async def receive() -> dict[str, object]:
            for part in parts:
                return {"type": "http.request", "body": part, "more_body": True}
            await asyncio.Event().wait()
            raise AssertionError

        with pytest.raises(limits.RefusedError) as refused:
            await limits.read_body(Request({"type": "http", "headers": []}, receive), 10)
        return refused.value.status

    assert ask.run(stalled()) == 408


def test_a_client_that_sends_a_gigabyte_reads_why_it_is_refused(tmp_path: Path) -> None:
    """Over a socket: the reply comes while the client still sends, and is not lost when the connection is cut."""
    app = create_app([serve_colours(tmp_path)], Settings(max_upload=MOST, cache=tmp_path / "cache"))
    with running(app) as url:
        host, port = url.removeprefix("http://").split(":")
        for head in (b"Content-Length: 1073741824\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"):
            with socket.create_connection((host, int(port)), timeout=20) as client:
                started = time.monotonic()
                client.sendall(b"POST " + UPLOAD.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head)
                part = bytes(2**16)
                if b"chunked" in head:
                    part = b"10000\r\n" + part + b"\r\n"
                sent, reply = 0, b""
                client.setblocking(False)
                while b"}}" not in reply and time.monotonic() < started + 20:
                    with suppress(BlockingIOError, ConnectionError):  # it may hang up once it has answered
                        sent += client.send(part) if sent % len(part) == 0 else 0
                    with suppress(BlockingIOError):
                        reply += client.recv(2**16)
                assert reply.startswith(b"HTTP/1.1 413 "), reply
                assert b"larger than the 1 MB that this server takes" in reply
                assert sent <= 2**27


@pytest.mark.parametrize(
    ("first", "start", "answer"),
    [
        (b"", b"", b""),
        (b"", b"GET / HTTP/1.1\r\nHos", b"took too long"),
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /", b"took too long"),
    ],
)
def test_a_head_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes, start: bytes, answer: bytes
) -> None:
    monkeypatch.setattr("kinhash.serving.protocol.HEAD_SECONDS", 0.2)
    with running(create_app([serve_colours(tmp_path)])) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(first)
            received = client.recv(2**16) if first else b""
            client.sendall(start)
            while part := client.recv(2**16):  # until it hangs up
                received += part
            assert answer in received
            assert received.startswith(b"HTTP/1.1 200") == bool(first)


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"GET /"])
def test_a_head_without_end_is_cut_off(tmp_path: Path, start: bytes) -> None:
    with running(create_app([serve_colours(tmp_path)])) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(start)
            sent = 0
            with suppress(ConnectionError):
                while sent < 2**26:
                    sent += client.send(b"a" * 2**14)
            assert sent < 2**25
        with socket.create_connection(
            (host, int(port)), timeout=20
        ) as client:  # one that is long enough, in parts
            client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            for number in range(50):
                client.sendall(b"X-%d: %s\r\n" % (number, b"a" * 1000))
            client.sendall(b"\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")


def test_only_so_many_uploads_and_sentences_at_once(colours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "MOST_UPLOADS", 2)
    monkeypatch.setattr(searching, "MOST_TO_ENCODE", 3)
    go = threading.Event()

    class Slow(Colours):
        def encode_text(self, texts: Sequence[str]) -> Codes:
            assert go.wait(20)
            return Colours.encode_text(self, texts)

    async def crowd(asker: Asker) -> list[Reply]:
        body = content(picture("red"))
        text = b'{"text": "red"}'
        asked = [asker.ask("POST", UPLOAD, body) for _ in range(3)]
        asked += [asker.ask("POST", "/api/colours/search", text) for _ in range(4)]
        tasks = [asyncio.create_task(one) for one in asked]
        while not any(task.done() for task in tasks[3:]):
            await asyncio.sleep(0.001)
        go.set()
        return await asyncio.gather(*tasks)

    with asking(create_app([served("colours", colours / "colours.kin", Slow())])) as asker:
        replies = asker.run(crowd(asker))
        assert "2 uploads are under way already: try again in a moment" in replies[2].error
        assert replies[2].headers["retry-after"] == "1"
        refused = [reply for reply in replies[3:] if reply.status == 503]
        assert len(refused) >= 1
        assert "3 queries wait for the encoder" in refused[0].error
        assert asker.post("/api/colours/search", {"text": "red"}).status == 200
        assert asker.post(UPLOAD, content(picture("red"))).status == 200


def test_a_body_for_a_route_that_reads_none_is_not_kept(ask: Asker) -> None:
    reply = ask.post("/api/colours/stats", os.urandom(1000))
    assert reply.status == 405
    assert reply.headers["connection"] == "close"
    assert "POST does not work at /api/colours/stats; see /openapi.json" in reply.error
