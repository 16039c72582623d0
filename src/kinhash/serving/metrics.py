"""Counters of a server in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
QUERIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Histogram:
    """Counts of values up to each of some bounds."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: Mapping[str, str]) -> Iterable[str]:
        below = 0
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            below += count
            yield f"{name}_bucket{_shown({**labels, 'le': str(bound)})} {below}"
        yield f"{name}_sum{_shown(labels)} {self.sum:.6f}"
        yield f"{name}_count{_shown(labels)} {below}"


class Metrics:
    """What a server has done since it started. Scans tell from their own threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._scans: dict[str, tuple[Histogram, Histogram]] = {}

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests[route, method, status] += 1
        self._seconds.setdefault(route, Histogram(SECONDS)).add(seconds)

    def scan(self, index: str, queries: int, seconds: float) -> None:
        with self._lock:
            together, took = self._scans.setdefault(index, (Histogram(QUERIES), Histogram(SECONDS)))
            together.add(queries)
            took.add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, Mapping[str, float]]]) -> str:
        """Everything, with gauges {name: (help, {index: value})} as they stand now."""
        lines = _head("kinhash_requests_total", "counter", "Requests answered.")
        for (route, method, status), count in sorted(self._requests.items()):
            labels = {"route": route, "method": method, "status": str(status)}
            lines.append(f"kinhash_requests_total{_shown(labels)} {count}")
        lines += _head(
            "kinhash_request_seconds", "histogram", "Time from a request's head to the end of its reply."
        )
        for route, seconds in sorted(self._seconds.items()):
            lines += seconds.lines("kinhash_request_seconds", {"route": route})
        with self._lock:
            lines += _head("kinhash_scan_queries", "histogram", "Queries that shared a scan.")
            for index, (together, _) in sorted(self._scans.items()):
                lines += together.lines("kinhash_scan_queries", {"index": index})
            lines += _head("kinhash_scan_seconds", "histogram", "Time of a scan.")
            for index, (_, took) in sorted(self._scans.items()):
                lines += took.lines("kinhash_scan_seconds", {"index": index})
        for name, (help_text, values) in gauges.items():
            lines += _head(name, "gauge", help_text)
            lines += [f"{name}{_shown({'index': index})} {value:g}" for index, value in values.items()]
        return "\n".join(lines) + "\n"


class Measured:
    """Counts and times every request; `route` is the path's pattern, so that ids make no labels."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 500

        async def send_and_look(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_look)
        finally:
            route = scope.get("route_name", "none")
            self._metrics.request(route, scope["method"], status, perf_counter() - started)


def _head(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]


def _shown(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
