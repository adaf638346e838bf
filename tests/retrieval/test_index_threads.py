from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from retrieval.indexing.background import BackgroundWorker
from retrieval.indexing.prefetch import Prefetcher


def test_items_come_in_order_and_never_more_than_allowed_wait() -> None:
    made = 0
    taken = 0
    most_ahead = 0

    def source() -> Iterator[int]:
        nonlocal made, most_ahead
        for number in range(200):
            made += 1
            most_ahead = max(most_ahead, made - taken)
            yield number

    with Prefetcher(source(), 3) as items:
        got = []
        for item in items:
            got.append(item)
            taken += 1
    assert got == list(range(200))
    assert most_ahead <= 3 + 2  # the waiting items, the item being computed and the item being consumed


def test_an_exception_arrives_after_the_items_before_it() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    got = []
    with Prefetcher(source(), 5) as items, pytest.raises(KeyboardInterrupt):
        got.extend(items)
    with Prefetcher(source(), 5) as items:
        for item in items:
            got.append(item)
            break  # a later error is not raised after an early exit
    assert got == [1, 1]


def test_leaving_early_closes_the_source_in_its_own_thread_and_ends_that() -> None:
    closed_in: list[str] = []

    def source() -> Iterator[int]:
        try:
            number = 0
            while True:
                yield number
                number += 1
        finally:
            closed_in.append(threading.current_thread().name)

    with Prefetcher(source(), 2) as items:
        assert next(iter(items)) == 0
    assert closed_in == ["plumbline-ahead"]
    assert "plumbline-ahead" not in [thread.name for thread in threading.enumerate()]


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Prefetcher(iter(()), 0)


def test_work_is_done_in_order_and_drained() -> None:
    done: list[int] = []
    with BackgroundWorker(done.append, limit=2) as worker:
        for number in range(50):
            worker.put(number)
        worker.drain()
        assert done == list(range(50))
        worker.put(50)
    assert done == list(range(51))


def test_what_the_work_raises_reaches_the_one_who_hands_over_and_stops_the_work() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        if item == 3:
            raise OSError("the disk is full")
        done.append(item)

    with pytest.raises(OSError, match="disk is full"), BackgroundWorker(work, limit=100) as worker:
        for number in range(10):
            worker.put(number)
    assert done == [0, 1, 2]


def test_what_was_handed_over_is_done_even_if_the_block_is_left_by_an_exception() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt), BackgroundWorker(done.append, limit=100) as worker:
        for number in range(20):
            worker.put(number)
        raise KeyboardInterrupt
    assert done == list(range(20))
