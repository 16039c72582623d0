"""A cheap load tool in a process of its own: keep-alive connections that ask, wait for the answer, and ask again.

python benchmarks/parts/http_load.py HOST PORT PATH CONNECTIONS SECONDS RATE < bodies

Every line of standard input is one body, sent in turn. RATE 0: every connection asks again at once; else requests begin
at that rate however slow the answers are, and their time counts from when they should have begun.
It prints json: requests, seconds, and the times of the requests in milliseconds at some percentiles.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import cycle

LEAD = 1.0  # seconds of load that are not counted


class Connection(asyncio.Protocol):
    """One keep-alive connection, one request at a time."""

    def __init__(self, done: asyncio.Queue[Connection], took: list[tuple[float, float]]) -> None:
        self._done, self._took = done, took
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def ask(self, request: bytes, due: float) -> None:
        self._due = due
        self._transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, _, body = self._buffer.partition(b"\r\n\r\n")
        at = head.lower().find(b"content-length:")
        if at < 0 or len(body) < int(head[at + 15 :].split(b"\r\n", 1)[0]):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the server said {self._buffer[:300]!r}")
        self._buffer = b""
        now = time.perf_counter()
        self._took.append((now, now - self._due))
        self._done.put_nowait(self)

    def connection_lost(self, error: Exception | None) -> None:
        if error is not None:
            sys.exit(f"the server hung up: {error}")


async def load(
    host: str, port: int, requests: list[bytes], connections: int, seconds: float, rate: float
) -> dict:
    free: asyncio.Queue[Connection] = asyncio.Queue()
    took: list[tuple[float, float]] = []
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        _, connection = await loop.create_connection(lambda: Connection(free, took), host, port)
        free.put_nowait(connection)
    line = cycle(requests)
    start = due = time.perf_counter()
    while (now := time.perf_counter()) < start + LEAD + seconds:
        if rate:
            due += 1 / rate
            if due > now:
                await asyncio.sleep(due - now)
        connection = await free.get()
        connection.ask(next(line), due if rate else time.perf_counter())
    counted = [t for at, t in took if start + LEAD <= at < start + LEAD + seconds]
    times = sorted(1000 * t for t in counted)
    percentiles = {f"p{p}": times[min(len(times) - 1, len(times) * p // 100)] for p in (10, 50, 95, 99)}
    return {"requests": len(times), "seconds": seconds, **percentiles}


def main() -> None:
    host, port, path, connections, seconds, rate = sys.argv[1:]
    bodies = sys.stdin.buffer.read().splitlines()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: "
    )
    requests = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]
    try:
        import uvloop

        run = uvloop.run
    except ImportError:
        run = asyncio.run
    print(json.dumps(run(load(host, int(port), requests, int(connections), float(seconds), float(rate)))))


if __name__ == "__main__":
    main()
