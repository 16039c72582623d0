"""Prices grow with what has to be read."""

from __future__ import annotations

from kinhash.index.multi_index_prices import code_price, wait_price, worth_it


def test_long_codes_cost_more_where_memory_is_read() -> None:
    assert code_price(10**6, 1) == code_price(10**6, 2) < code_price(10**6, 4) < code_price(10**6, 8)
    assert wait_price(1) < wait_price(4)


def test_few_codes_are_scanned_at_once() -> None:
    assert not worth_it(10**4, 1, 1000)
    assert worth_it(10**6, 1, 100)
    assert worth_it(10**7, 1, 1)


def test_a_large_part_of_the_codes_is_scanned_at_once() -> None:
    assert worth_it(10**6, 1, 100, k=5_000)
    assert not worth_it(10**6, 1, 100, k=5_001)
