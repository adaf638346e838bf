"""Work in independent blocks: what executors do, whether in this process or on other machines."""

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
    """The workers cannot be used, or one was lost with its block more often than is tolerated."""


class BlockWorkers(Protocol[BlockIn, Result]):
    """Workers that apply one function to blocks. Results do not depend on their number."""

    @property
    def ahead(self) -> int:
        """Number of submitted blocks that keeps all workers busy, at least 1."""

    def submit(self, block: BlockIn) -> Future[Result]:
        """Start the block. The future raises what the function raises, and WorkerError if its worker is lost."""

    def close(self) -> None:
        """End the workers and release their memory. Submitted blocks may be lost. May be called again."""


class BlockExecutor(Protocol):
    """Starts workers. ``close`` ends all of them."""

    def workers(
        self, make: Callable[[], Callable[[Block], Result]], *, models: bool = True
    ) -> BlockWorkers[Block, Result]:
        """Return workers; each calls ``make`` once, before its first block, and applies the returned function.

        make, blocks and results are picklable. models: whether the function holds a model, and so needs the processors
        that are reserved for a worker. Raises WorkerError if there is no room for the workers.
        """


class LocalExecutor:
    """A BlockExecutor that works in this process, one block at a time."""

    def workers(
        self, make: Callable[[], Callable[[Block], Result]], *, models: bool = True
    ) -> BlockWorkers[Block, Result]:
        """See BlockExecutor. models: makes no difference here."""
        return _LocalWorkers(make)


class _LocalWorkers(Generic[Block, Result]):
    ahead = 1

    def __init__(self, make: Callable[[], Callable[[Block], Result]]) -> None:
        self._make = make
        self._function: Callable[[Block], Result] | None = None

    def submit(self, block: Block) -> Future[Result]:
        """Apply the function now."""
        done: Future[Result] = Future()
        try:
            self._function = self._function or self._make()
            done.set_result(self._function(block))
        except Exception as error:  # raised where the result is read
            done.set_exception(error)
        return done

    def close(self) -> None:
        """Release the function."""
        self._function = None


def in_order(workers: BlockWorkers[Block, Result], blocks: Iterable[Block]) -> Iterator[Result]:
    """Yield the result of each block, in order. At most ``workers.ahead`` blocks are taken before their results are.

    Raises what the function raises for a block, at its place, WorkerError, and what ``blocks`` raises, after the
    results of the blocks before.
    """
    waiting: deque[Future[Result]] = deque()
    source = iter(blocks)
    error: Exception | None = None
    while True:
        try:
            block = next(source)
        except StopIteration:
            break
        except Exception as raised:  # the results of the blocks before are not lost
            error = raised
            break
        waiting.append(workers.submit(block))
        if len(waiting) >= workers.ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if error is not None:
        raise error
