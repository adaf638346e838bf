"""Process items in a background thread while the caller continues."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundWorker(Generic[T]):
    """A thread that calls ``work`` with each item, in order. Use it as a context manager; its end waits for all items.

    An exception in ``work`` is raised by the next ``put`` or ``drain``, and later items are not processed. If an
    exception (such as Ctrl-C) leaves the block, queued items are still processed, because they are already computed.
    """

    def __init__(self, work: Callable[[T], None], limit: int) -> None:
        """limit: largest number of queued items; ``put`` blocks at the limit."""
        self._work = work
        self._limit = limit
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="plumbline-behind", daemon=True)

    def __enter__(self) -> BackgroundWorker[T]:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.drain()
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            self._thread.join()

    def put(self, item: T) -> None:
        """Queue an item. Raises the exception of an earlier item, if there was one."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._limit or self._error is not None)
            self._check()
            self._waiting.append(item)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until all queued items are processed. Raises the exception of an item, if there was one."""
        with self._changed:
            self._changed.wait_for(lambda: (not self._waiting and not self._busy) or self._error is not None)
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                item = self._waiting.popleft()
                self._busy = True
                self._changed.notify_all()
            try:
                self._work(item)
            except BaseException as error:  # raised again in the thread that queues the items
                with self._changed:
                    self._error = error
                    self._waiting.clear()
                    self._closed = True
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
