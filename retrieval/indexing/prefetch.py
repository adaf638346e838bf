"""An iterator that prefetches a bounded number of items in a separate thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Prefetcher(Generic[T]):
    """An iterator over the items of ``source``, which are computed in a thread. Use it as a context manager.

    The thread runs inside the block. It ends at the end of the source, at an exception of the source (raised again in
    the consumer), or after the current item if the block is left early. It also closes the source, so that a
    generator's ``finally`` runs in the same thread as its ``try``.
    """

    def __init__(self, source: Iterator[T], limit: int) -> None:
        """limit: largest number of prefetched items; the thread pauses at the limit."""
        if limit < 1:
            raise ValueError(f"the limit of prefetched items must be at least 1, not {limit}")
        self._source = source
        self._limit = limit
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="plumbline-ahead", daemon=True)

    def __enter__(self) -> Prefetcher[T]:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended or self._closed)
                if not self._waiting:
                    if self._error is not None:
                        raise self._error
                    return
                item = self._waiting.popleft()
                self._changed.notify_all()
            yield item

    def _run(self) -> None:
        try:
            for item in self._source:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._waiting) < self._limit or self._closed)
                    if self._closed:
                        return
                    self._waiting.append(item)
                    self._changed.notify_all()
        except BaseException as error:  # raised again in the consuming thread
            self._error = error
        finally:
            close = getattr(self._source, "close", None)
            try:
                if close is not None:
                    close()
            except BaseException as error:
                self._error = self._error or error
            with self._changed:
                self._ended = True
                self._changed.notify_all()
