"""What Prometheus reads: one line a sample, histograms that add up, labels escaped, no label per id."""

from __future__ import annotations

import re

from serving.inside import Asker

from kinhash.serving.metrics import SECONDS, Histogram, Metrics

SAMPLE = re.compile(r'^[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? [0-9.e+-]+$')


def test_a_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram((1, 10))
    for value in (0.5, 1, 2, 100):
        histogram.add(value)
    assert list(histogram.lines("x", {"a": 'say "hi"\\\n'})) == [
        r'x_bucket{a="say \"hi\"\\\n",le="1"} 2',
        r'x_bucket{a="say \"hi\"\\\n",le="10"} 3',
        r'x_bucket{a="say \"hi\"\\\n",le="+Inf"} 4',
        r'x_sum{a="say \"hi\"\\\n"} 103.500000',
        r'x_count{a="say \"hi\"\\\n"} 4',
    ]


def test_the_text_is_well_formed(ask: Asker) -> None:
    for name in ("red-00.png", "nothing"):
        ask.get(f"/api/colours/thumbnail?id={name}")
    ask.post("/api/colours/search", {"text": "red"})
    ask.get("/no/such/place")
    reply = ask.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = reply.body.decode().splitlines()
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or SAMPLE.match(line), line
    named = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(set(named)) == len(named)
    text = reply.body.decode()
    assert 'kinhash_requests_total{route="/api/{index}/thumbnail",method="GET",status="404"}' in text
    assert 'kinhash_requests_total{route="none",method="GET",status="404"}' in text
    assert 'kinhash_index_items{index="colours"} 40' in text
    assert 'kinhash_waiting_queries{index="colours"} 0' in text
    assert "nothing" not in text


def test_scans_count_their_queries() -> None:
    metrics = Metrics()
    metrics.scan("a", 3, 0.001)
    metrics.scan("a", 64, 0.02)
    lines = metrics.text({}).splitlines()
    assert 'kinhash_scan_queries_sum{index="a"} 67.000000' in lines
    assert 'kinhash_scan_queries_count{index="a"} 2' in lines
    assert sum('kinhash_scan_seconds_bucket{index="a"' in line for line in lines) == len(SECONDS) + 1
