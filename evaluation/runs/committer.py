"""Background commits: a cell is committed while the next is drawn, because a commit waits for the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType

from evaluation.runs.records import SampleRecord

Records = tuple[SampleRecord, ...]


class Committer:
    """Commits cells in order, one at a time, in its own thread.

    ``kept`` is called with a cell in the caller's thread after its commit, never before. At most one commit is pending
    while the next cell is drawn; a kill loses at most that cell and the one being drawn. Use it as a context manager:
    leaving the block, also by an error or Ctrl-C, first finishes the pending commit.
    """

    def __init__(self, save: Callable[[Records], None], kept: Callable[[Records], None]) -> None:
        """save: commits a cell or raises. kept: called after the commit."""
        self._save, self._kept = save, kept
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._under_way: tuple[Future[None], Records] | None = None

    def put(self, cells: Sequence[Records]) -> None:
        """Commit these cells next. Raises the error of the previous commit, in which case none of these is started."""
        for records in cells:
            self.wait()
            self._under_way = self._thread.submit(self._save, records), records

    def wait(self) -> None:
        """Wait until everything is committed. Raises the error of a commit."""
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
                with suppress(BaseException):  # report the first error
                    self._under_way[0].result()
        finally:
            self._thread.shutdown()
