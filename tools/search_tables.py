"""The measured tables of docs/search.md: the scan, multi-index hashing, and the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from duels import time_text
from marked_tables import Tables, one_file
from result_files import Result, number, provenance, table

Row = Mapping[str, Any]
_FILTERS = {"no filter": "none", "1 % as a mask": "mask", "1 % as positions": "positions"}
_QUERIES = {"random queries": "random", "near queries": "near"}


def _of(file: str, build: Callable[[Result], str]) -> Callable[[Sequence[Result]], str]:
    """A table of one file, with where it was measured."""

    def made(results: Sequence[Result]) -> str:
        result = one_file(results, "search", file)
        if result is None:
            return f"Not measured yet: results/search/{file}.json."
        return f"{build(result)}\n\n{provenance([result])}"

    return made


def _rows(result: Result, **wanted: Any) -> list[Row]:
    """Rows with these values; None means that the row has none."""
    return [r for r in result.card["rows"] if all(r.get(key) == value for key, value in wanted.items())]


def _keys(rows: Iterable[Row], *names: str) -> list[tuple[Any, ...]]:
    """Every different combination, in the order in which they come."""
    return list(dict.fromkeys(tuple(row.get(name) for name in names) for row in rows))


def scan(result: Result) -> str:
    """Time, comparisons per second, and FAISS's time over ours, one thread each."""
    ours = _rows(result, engine="kinhash", threads=1, filter=None)

    def cell(bits: int, n: int, k: int, batch: int) -> str:
        [row] = _rows(result, engine="kinhash", threads=1, filter=None, bits=bits, N=n, k=k, batch=batch)
        rate = number(row["g_codes_per_s"], 3)
        return f"{time_text(row['seconds'])}, {rate} G/s, {number(row['times_faiss'], 3)}x"

    batches = [batch for (batch,) in _keys(ours, "batch")]
    rows = [
        [f"{bits}, {n:,}, {k}", *(cell(bits, n, k, batch) for batch in batches)]
        for bits, n, k in _keys(ours, "bits", "N", "k")
    ]
    return table(["bits, N, k", *(f"batch {batch:,}" for batch in batches)], rows)


def filters(result: Result) -> str:
    """Time per query with and without a filter that 1 % of the codes pass, k = 10."""
    found = [row for row in _rows(result, engine="kinhash", threads=1, bits=64, k=10) if row.get("filter")]
    rows = []
    for n, batch in _keys(found, "N", "batch"):
        times = {row["filter"]: row["seconds"] for row in found if (row["N"], row["batch"]) == (n, batch)}
        rows.append([f"{n:,} codes, batch {batch}", *(time_text(times[name]) for name in _FILTERS)])
    return table(["filter", *_FILTERS.values()], rows)


def facts(result: Result) -> str:
    """The single figures that have a bar."""
    shown = ["one query over 1M codes, p50 in ms", "batch 1, share of the speed of reading"]
    shown += ["batch 1000, two threads / one"]
    return table(["", "measured"], [[name, number(result.card["metrics"][name], 3)] for name in shown])


def scaling(result: Result) -> str:
    """Time per query and FAISS's time over ours against the number of codes."""
    ours = _rows(result, engine="kinhash")
    batches = [batch for (batch,) in _keys(ours, "batch")]
    rows = []
    for (n,) in _keys(ours, "N"):
        cells = [next(row for row in ours if (row["N"], row["batch"]) == (n, batch)) for batch in batches]
        rows.append(
            [f"{n:,}", *(f"{time_text(row['seconds'])}, {number(row['times_faiss'], 3)}x" for row in cells)]
        )
    return table(["64 bits, k = 10: codes", *(f"batch {batch:,}" for batch in batches)], rows)


def paper(result: Result) -> str:
    """The measured rates, multiplied up: one core, 64 bits."""
    ours = _rows(result, engine="kinhash", threads=1, filter=None, bits=64, k=10)
    largest = max(row["N"] for row in ours)
    per_code = {row["batch"]: row["seconds"] / largest for row in ours if row["N"] == largest}
    rows = [
        [f"{n:,}", f"{8 * n / 1e9:g} GB", *(time_text(n * seconds) for seconds in per_code.values())]
        for n in (10**9, 10**10)
    ]
    return table(["codes", "memory", *(f"batch {batch:,}" for batch in per_code)], rows)


def multi(result: Result) -> str:
    """How many times as fast as the scan of the same batch, on one thread; what the index takes."""
    rows = []
    for data, n, bits in _keys(_rows(result, what="build", k=None), "data", "n", "bits"):
        same = {"data": data, "n": n, "bits": bits}
        [build] = _rows(result, what="build", k=None, **same)
        cells = [f"{time_text(build['seconds'])}", number(build["bytes_per_code"], 3)]
        for what in _QUERIES:
            for k in (1, 10, 100):
                found = _rows(result, what=what, k=k, engine="scan", **same)
                cells.append(f"{number(found[0]['ratio'], 3)}x" if found else "-")
        rows.append([f"{data}, {n:,}, {bits} bits", *cells])
    heads = [f"{name}, k = {k}" for name in _QUERIES.values() for k in (1, 10, 100)]
    return table(["codes", "built in", "bytes a code", *heads], rows)


def headline(result: Result) -> str:
    """Every engine on the same queries."""
    found = _rows(result, what="random queries, headline")
    [(n, bits, k, batch)] = _keys(found, "n", "bits", "k", "batch")
    said = f"{n:,} uniform codes, {bits} bits, k = {k}, {batch} random queries"
    rows = [[row["engine"], time_text(row["seconds"]), number(row["ratio"], 3)] for row in found]
    return table([said, "a query", "times multi-index"], rows)


def billion(result: Result) -> str:
    """Whole searches beside reading alone."""
    n = max(row["N"] for row in result.card["rows"])
    rows = []
    for row in _rows(result, N=n, engine="kinhash"):
        rate = row["comparisons_per_second"] / 1e12
        each = time_text(row["seconds"] / row["batch"])
        rows.append([f"batch {row['batch']}", time_text(row["seconds"]), each, f"{rate:.2g}e12"])
    [read] = _rows(result, N=n, engine="bare read")
    rows.append(["reading these codes alone", time_text(read["seconds"]), "", ""])
    return table([f"{n:,} codes, 64 bits, k = 100", "time", "a query", "comparisons per second"], rows)


def rivals(result: Result) -> str:
    """What one writes with torch, per batch."""
    names = [row["engine"] for row in result.card["rows"] if "torch" in row["engine"] and row.get("k")]
    rows = []
    for engine in ("kinhash", *dict.fromkeys(names)):
        found = _rows(result, engine=engine, N=100_000_000, bits=64, codes="uniform", k=100)
        last = {
            row["batch"]: row["seconds"] for row in found
        }  # of two measurements the one beside the rivals
        rows.append([engine, *(time_text(last[batch]) for batch in (1, 64))])
    return table(["100,000,000 codes, 64 bits, k = 100", "batch 1", "batch 64"], rows)


def others(result: Result) -> str:
    """Other codes, other k, a radius, per batch."""
    found = _rows(result, engine="kinhash", N=100_000_000)
    rows = []
    for bits, codes, k, radius in _keys(found, "bits", "codes", "k", "radius"):
        same = _rows(result, engine="kinhash", N=100_000_000, bits=bits, codes=codes, k=k, radius=radius)
        times: dict[int, float] = {}
        for row in same:
            times.setdefault(row["batch"], row["seconds"])
        search = f"k = {k}" if k else f"radius {radius}"
        rows.append([f"{bits} bits, {codes}, {search}", *(time_text(times[batch]) for batch in (1, 64))])
    return table(["100,000,000 codes", "batch 1", "batch 64"], rows)


TABLES: Tables = {
    "scan": _of("flat", scan),
    "facts": _of("flat", facts),
    "filters": _of("flat", filters),
    "scaling": _of("scaling", scaling),
    "paper": _of("flat", paper),
    "headline": _of("multi-index", headline),
    "multi": _of("multi-index", multi),
    "billion": _of("gpu", billion),
    "rivals": _of("gpu", rivals),
    "others": _of("gpu", others),
}
