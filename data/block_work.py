"""Executors that process independent blocks of work, in this process or on other machines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Generic, Protocol, TypeVar

from plumbline_errors import PlumblineError

Block = TypeVar("Block")
Result = TypeVar("Result")
BlockIn = TypeVar("BlockIn", contravariant=True)


class WorkerError(PlumblineError):
    """The workers cannot be used, or a block was lost with its worker too often."""


class BlockWorkers(Protocol[BlockIn, Result]):
    """Workers that apply one function to blocks. Results do not depend on their number."""

    @property
    def ahead(self) -> int:
        """Number of submitted blocks that keeps all workers busy; at least 1."""

    def submit(self, block: BlockIn) -> Future[Result]:
        """Start a block. Its future raises the function's error, or WorkerError if its worker is lost."""

    def close(self) -> None:
        """End the workers and release their memory. Submitted blocks may be lost. Further calls have no effect."""


class BlockExecutor(Protocol):
    """Starts workers. ``close`` ends all of them."""

    def workers(
        self, make: Callable[[], Callable[[Block], Result]], *, models: bool = True
    ) -> BlockWorkers[Block, Result]:
        """Return workers. Each calls ``make`` once, before its first block, and applies the function it returns.

        make, blocks and results must be picklable. models: whether the function has a model, and so needs the
        processors that are reserved for a worker. Raises WorkerError if there are not enough resources for the workers.
        """


class LocalExecutor:
    """A BlockExecutor that works in this process, one block at a time."""

    def workers(
        self, make: Callable[[], Callable[[Block], Result]], *, models: bool = True
    ) -> BlockWorkers[Block, Result]:
        """See BlockExecutor.workers. models: has no effect."""
        return _LocalWorkers(make)


class _LocalWorkers(Generic[Block, Result]):
    ahead = 1

    def __init__(self, make: Callable[[], Callable[[Block], Result]]) -> None:
        self._make = make
        self._function: Callable[[Block], Result] | None = None

    def submit(self, block: Block) -> Future[Result]:
        """Apply the function to the block before returning."""
        done: Future[Result] = Future()
        try:
            self._function = self._function or self._make()
            done.set_result(self._function(block))
        except Exception as error:  # raised again where the result is read
            done.set_exception(error)
        return done

    def close(self) -> None:
        """Release the function."""
        self._function = None


def in_order(workers: BlockWorkers[Block, Result], blocks: Iterable[Block]) -> Iterator[Result]:
    """Yield the result of each block, in order. At most ``workers.ahead`` blocks are in progress.

    Raises the error of a block in place of its result, and the error of ``blocks`` after the results of the preceding
    blocks. Raises WorkerError if a worker is lost.
    """
    waiting: deque[Future[Result]] = deque()
    source = iter(blocks)
    error: Exception | None = None
    while True:
        try:
            block = next(source)
        except StopIteration:
            break
        except Exception as raised:  # raised after the results of the preceding blocks
            error = raised
            break
        waiting.append(workers.submit(block))
        if len(waiting) >= workers.ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if error is not None:
        raise error
