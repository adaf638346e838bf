"""Dynamic batching: requests that arrive while a batch runs form the next batch.

A batch never waits to fill up: a single request is a batch of one. Each batcher has one thread, so the work need not be
thread-safe.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class MicroBatcher(Generic[Item, Result]):
    """A queue whose items are processed in batches, for one event loop.

    work: called in the batcher's thread with 1 to ``most`` items. It returns a result or an exception for each. If it
    raises, each item is retried separately.
    seen: called with the size of each batch.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        name: str,
        most: int = 64,
        seen: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._work, self._most, self._seen = work, most, seen
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Number of items that are not in a batch yet."""
        return len(self._waiting)

    async def do(self, item: Item) -> Result:
        """Return the result of an item, or raise its exception. An item whose caller was cancelled while waiting is
        skipped.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._serve())
        return await future

    def close(self) -> None:
        """Stop the thread after its current work."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch: list[tuple[Item, asyncio.Future[Result]]] = []
                while self._waiting and len(batch) < self._most:
                    item, future = self._waiting.popleft()
                    if not future.done():
                        batch.append((item, future))
                if not batch:
                    continue
                self._seen(len(batch))
                results = await loop.run_in_executor(self._thread, self._results, [item for item, _ in batch])
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():
                        continue  # it was cancelled meanwhile
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._running = None
            while self._waiting:  # the loop is closing
                self._waiting.popleft()[1].cancel()

    def _results(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        try:
            return self._work(items)
        except Exception as error:  # the items of a failed batch are retried one by one
            if len(items) == 1:
                return [error]
        return [result for item in items for result in self._results([item])]
