"""Queued requests to a server."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future

from generation.completion import Completion
from generation.errors import UnavailableError


class PendingReplies:
    """See generation.generator.PendingCompletions. futures: for each task, the futures of its requests."""

    def __init__(self, futures: Sequence[Sequence[Future[tuple[Completion, ...]]]]) -> None:
        self._futures = futures

    def result(self) -> tuple[tuple[Completion, ...], ...]:
        """See PendingCompletions.result.

        The first error, or Ctrl-C, cancels the requests that have not started. Those in progress are not awaited.
        """
        try:
            return tuple(tuple(c for future in futures for c in future.result()) for futures in self._futures)
        except CancelledError as error:
            raise UnavailableError("the connection to the server was closed before the request was sent") from error
        finally:
            self.cancel()

    def cancel(self) -> None:
        """See PendingCompletions.cancel."""
        for futures in self._futures:
            for future in futures:
                future.cancel()
