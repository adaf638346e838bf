"""Commits cells while the next is drawn: a durable commit waits for the disk, which needs no processor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType

from evaluation.runs.records import SampleRecord

Records = tuple[SampleRecord, ...]


class Committer:
    """Commits cells in the order given, one at a time, on a thread of its own.

    A cell is told to ``kept`` once it is committed, never before, in the caller's thread. At most one is on its way
    while the next is drawn: that is what a kill can lose beside the one that is being drawn. Use it as a context
    manager: what is on its way when the block is left, by an error or Ctrl-C too, is committed before anything else.
    """

    def __init__(self, save: Callable[[Records], None], kept: Callable[[Records], None]) -> None:
        """save: commits a cell, or raises."""
        self._save, self._kept = save, kept
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._under_way: tuple[Future[None], Records] | None = None

    def put(self, cells: Sequence[Records]) -> None:
        """Commit these next. Raises what committing the one before raised; then none of these is begun."""
        for records in cells:
            self.wait()
            self._under_way = self._thread.submit(self._save, records), records

    def wait(self) -> None:
        """Until everything is committed. Raises what committing raised."""
        if self._under_way is None:
            return
        future, records = self._under_way
        future.result()
        self._under_way = None
        self._kept(records)

    def __enter__(self) -> Committer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.wait()
            elif self._under_way is not None:
                with suppress(BaseException):  # the first error is the one to be told
                    self._under_way[0].result()
        finally:
            self._thread.shutdown()
