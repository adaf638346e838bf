"""Stores queries in the background after they are answered, several per transaction.

A query is answered even if storing it fails; the log reports the loss. While the database is locked, queries wait, up
to a limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from app.answers import QueryResult
from app.pipeline import Pipeline
from app.service.observability.logs import LOGGER
from data.errors import StoreBusyError

_MOST_WAITING = 4096
_AT_ONCE = 128


class QueryWriter:
    """Belongs to one event loop. seen: called with each batch's size."""

    def __init__(self, pipeline: Pipeline, seen: Callable[[int], None] = lambda size: None) -> None:
        self._pipeline, self._seen = pipeline, seen
        self._waiting: deque[tuple[QueryResult, str | None]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="storing")
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._log = logging.getLogger(LOGGER)

    def put(self, result: QueryResult, stored: str | None) -> None:
        """Queue it for storing. stored: the store's name of the searched collection."""
        if len(self._waiting) >= _MOST_WAITING:
            self._log.error("query %s is not stored: %d wait for the database already", result.id, _MOST_WAITING)
            return
        self._waiting.append((result, stored))
        if self._running is None:
            self._running = asyncio.create_task(self._serve())

    async def close(self) -> None:
        """Wait until all queries are stored; retries a locked database only once."""
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
                taken = await asyncio.get_running_loop().run_in_executor(self._thread, self._store, batch)
                if not taken and self._closing:
                    self._log.error("%d queries are not stored: the database is locked", count + len(self._waiting))
                    self._waiting.clear()
                elif not taken:
                    self._waiting.extendleft(reversed(batch))
        finally:
            self._running = None

    def _store(self, batch: list[tuple[QueryResult, str | None]]) -> bool:
        """False if the database stayed locked for the store's timeout; the batch is then retried."""
        try:
            self._pipeline.keep([result for result, _ in batch], [stored for _, stored in batch])
        except StoreBusyError as error:
            self._log.error("%d queries wait to be stored: %s", len(batch), error)
            return False
        except Exception as error:  # the answers were delivered, so only log the loss
            self._log.error("%d queries are not stored: %s: %s", len(batch), type(error).__name__, error)
        return True
