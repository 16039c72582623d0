"""Every block runs once, whatever the number of threads; an error inside reaches the caller."""

from __future__ import annotations

import pytest

from kinhash.kernels.threads import available_threads, map_blocks


@pytest.mark.parametrize("threads", [1, 2, 7, None])
@pytest.mark.parametrize(("total", "block"), [(0, 3), (1, 3), (9, 3), (10, 3), (5, 100)])
def test_blocks_cover_everything_once(threads: int | None, total: int, block: int) -> None:
    seen: list[tuple[int, int]] = []
    map_blocks(lambda start, stop: seen.append((start, stop)), total, block, threads)
    assert sorted(i for start, stop in seen for i in range(start, stop)) == list(range(total))
    assert all(0 < stop - start <= block for start, stop in seen)


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_are_not_lost(threads: int) -> None:
    def run(start: int, stop: int) -> None:
        if start == 4:
            raise ArithmeticError(f"block {start} to {stop}")

    with pytest.raises(ArithmeticError, match="block 4 to 6"):
        map_blocks(run, 10, 2, threads)


def test_there_is_a_processor() -> None:
    assert available_threads() >= 1
