"""Store queries and audits in the background after they were answered, several per transaction.

A query is answered even if it cannot be stored; the log reports the loss. While the database is locked or its server
does not answer, items wait, up to a limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from app.service.observability.logs import LOGGER
from data.errors import StoreBusyError, StoreUnavailableError

_MOST_WAITING = 4096
_AT_ONCE = 128
_RETRY_S = 0.5
T = TypeVar("T")


class BackgroundWriter(Generic[T]):
    """A writer for one event loop, with one thread."""

    def __init__(
        self, store: Callable[[list[T]], object], what: str, seen: Callable[[int], None] = lambda size: None
    ) -> None:
        """Create a writer.

        store: stores a batch of items in one transaction.
        what: plural name of the items, for the log.
        seen: called with the size of each batch.
        """
        self._write, self._what, self._seen = store, what, seen
        self._waiting: deque[T] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"storing {what}")
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._log = logging.getLogger(LOGGER)

    def put(self, item: T, name: str) -> None:
        """Queue an item for storing. name: name of the item, for the log."""
        if len(self._waiting) >= _MOST_WAITING:
            self._log.error("%s is not stored: %d %s wait for the database already", name, _MOST_WAITING, self._what)
            return
        self._waiting.append(item)
        if self._running is None:
            self._running = asyncio.create_task(self._serve())

    async def close(self) -> None:
        """Wait until everything is stored. If the database is locked or unavailable, the remaining items are dropped
        and logged.
        """
        self._closing = True
        if self._running is not None:
            await self._running
        self._thread.shutdown(wait=False)

    async def _serve(self) -> None:
        try:
            while self._waiting:
                count = min(_AT_ONCE, len(self._waiting))
                batch = [self._waiting.popleft() for _ in range(count)]
                self._seen(count)
                stored = await asyncio.get_running_loop().run_in_executor(self._thread, self._store, batch)
                if not stored and self._closing:
                    lost = count + len(self._waiting)
                    self._log.error("%d %s are not stored: the database is locked or unavailable", lost, self._what)
                    self._waiting.clear()
                elif not stored:
                    self._waiting.extendleft(reversed(batch))
                    await asyncio.sleep(_RETRY_S)
        finally:
            self._running = None

    def _store(self, batch: list[T]) -> bool:
        """Store a batch. Returns False if the database is locked or unavailable, so that the batch is retried."""
        try:
            self._write(batch)
        except (StoreBusyError, StoreUnavailableError) as error:
            self._log.error("%d %s wait to be stored: %s", len(batch), self._what, error)
            return False
        except Exception as error:  # the answers were already sent, so the loss is only logged
            self._log.error("%d %s are not stored: %s: %s", len(batch), self._what, type(error).__name__, error)
        return True
