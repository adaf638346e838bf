"""Queries are stored behind their answers: several in one transaction, and nobody waits for the disk.

A query whose storing fails is answered all the same; the log says what was lost. A database that is only locked is
waited for, as long as there is room for what waits.
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
    """Belongs to one event loop. seen: told each batch's size."""

    def __init__(self, pipeline: Pipeline, seen: Callable[[int], None] = lambda size: None) -> None:
        self._pipeline, self._seen = pipeline, seen
        self._waiting: deque[tuple[QueryResult, str | None]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="storing")
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._log = logging.getLogger(LOGGER)

    def put(self, result: QueryResult, stored: str | None) -> None:
        """Have it stored soon. stored: the store's name of the collection that was searched."""
        if len(self._waiting) >= _MOST_WAITING:
            self._log.error("query %s is not stored: %d wait for the database already", result.id, _MOST_WAITING)
            return
        self._waiting.append((result, stored))
        if self._running is None:
            self._running = asyncio.create_task(self._serve())

    async def close(self) -> None:
        """Wait until all is stored; for a database that is locked only once more."""
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
        """False where the database was locked for as long as the store waits, and the batch is to be tried again."""
        try:
            self._pipeline.keep([result for result, _ in batch], [stored for _, stored in batch])
        except StoreBusyError as error:
            self._log.error("%d queries wait to be stored: %s", len(batch), error)
            return False
        except Exception as error:  # the answers were given: what is left to do is to say so
            self._log.error("%d queries are not stored: %s: %s", len(batch), type(error).__name__, error)
        return True
