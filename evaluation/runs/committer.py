"""Commit cells in a background thread, so that the next cell is drawn while a commit waits for the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType

from evaluation.runs.records import SampleRecord

Records = tuple[SampleRecord, ...]


class Committer:
    """A background thread that commits cells in order, one at a time.

    At most one commit is pending while the next cell is drawn. A kill loses at most that cell and the one being drawn.
    Use it as a context manager: leaving the block, also by an error or Ctrl-C, first finishes the pending commit.
    """

    def __init__(self, save: Callable[[Records], None], on_commit: Callable[[Records], None]) -> None:
        """Start the thread.

        save: commits a cell or raises.
        on_commit: called with each cell after its commit, in the caller's thread.
        """
        self._save, self._on_commit = save, on_commit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._under_way: tuple[Future[None], Records] | None = None

    def put(self, cells: Sequence[Records]) -> None:
        """Commit these cells next.

        Raises the error of the previous commit. No further commit is then started.
        """
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
        self._on_commit(records)

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
