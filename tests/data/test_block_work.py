from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from data.block_work import BlockExecutor, LocalExecutor, in_order
from tests.block_executors import ThreadExecutor


def halving(opened: list[int]) -> Callable[[int], float]:
    opened.append(1)
    return lambda block: 1.0 / block


def doubling() -> Callable[[int], int]:
    return double


def double(block: int) -> int:
    if block == 13:
        raise ValueError(f"not {block}")
    return 2 * block


@pytest.mark.parametrize("executor", [LocalExecutor(), ThreadExecutor(3)])
def test_results_come_in_order_and_errors_at_their_place(executor: BlockExecutor) -> None:
    results = in_order(executor.workers(doubling), iter([1, 2, 13, 4]))
    assert [next(results), next(results)] == [2, 4]
    with pytest.raises(ValueError, match="not 13"):
        next(results)
    assert list(in_order(executor.workers(doubling), range(14, 99))) == [2 * n for n in range(14, 99)]
    assert list(in_order(executor.workers(doubling), ())) == []


@pytest.mark.parametrize(("executor", "taken"), [(LocalExecutor(), 1), (ThreadExecutor(3), 6)])
def test_blocks_are_taken_as_they_are_needed(executor: BlockExecutor, taken: int) -> None:
    given = []

    def blocks() -> Iterator[int]:
        for n in range(50):
            given.append(n)
            yield n

    results = in_order(executor.workers(doubling), blocks())
    next(results)
    assert len(given) == taken


def test_blocks_that_fail_to_come_lose_no_result() -> None:
    def blocks() -> Iterator[int]:
        yield from (1, 2, 3)
        raise OSError("the file ends here")

    results = in_order(ThreadExecutor(3).workers(doubling), blocks())
    assert [next(results) for _ in range(3)] == [2, 4, 6]
    with pytest.raises(OSError, match="ends here"):
        next(results)


def test_the_local_executor_opens_its_function_once_and_only_for_work() -> None:
    opened: list[int] = []
    workers = LocalExecutor().workers(partial(halving, opened))
    assert not opened
    assert [workers.submit(n).result() for n in (1, 2)] == [1.0, 0.5]
    assert len(opened) == 1
    assert isinstance(workers.submit(0).exception(), ZeroDivisionError)
    workers.close()
    workers.submit(1)
    assert len(opened) == 2
