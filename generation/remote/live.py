"""A streaming request to a server, which sends samples over separate connections to one listener."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from generation.completion import Completion, TextDelta, ThoughtDelta
from generation.live import FinishedRequest, Listener
from generation.remote.cancellation import RequestCancellation


class RemoteRequest:
    """See generation.live.LiveRequest.

    samples: number of samples. deadline_s: seconds after which the partial answers are returned; None for no limit.
    """

    def __init__(self, samples: int, listener: Listener, deadline_s: float | None) -> None:
        self.cancellation = RequestCancellation()
        self._listener = listener
        self._lock = threading.Lock()
        self._completions: dict[int, Completion] = {}
        self._error: Exception | None = None
        self._left = samples
        self._timer = (
            threading.Timer(deadline_s, self.cancellation.cancel, ("deadline",)) if deadline_s is not None else None
        )
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        if not samples:
            self._end()

    def cancel(self) -> None:
        """Close the connections without waiting, so that the server can stop."""
        self.cancellation.cancel("cancelled")

    def emit(self, sample: int, piece: str, thought: str) -> None:
        """Send reasoning and text to the listener. Either may be empty."""
        if thought:
            self._listener(ThoughtDelta(thought, sample))
        if piece:
            self._listener(TextDelta(piece, sample))

    def draw(self, samples: Sequence[int], work: Callable[[], Sequence[Completion]]) -> None:
        """Generate these samples in the caller's thread with ``work``.

        An error ends all samples of the request. The listener receives it after they have ended.
        """
        found: Sequence[Completion] = ()
        error: Exception | None = None
        try:
            found = work()
        except Exception as raised:  # every error goes to the listener
            error = raised
            self.cancellation.cancel("cancelled")
        with self._lock:
            self._error = self._error or error
            self._completions |= dict(zip(samples, found, strict=False))
            self._left -= len(samples)
            over = self._left == 0
        if over:
            self._end()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._error is not None:
            self._listener(self._error)
            return
        drawn = tuple(completion for _, completion in sorted(self._completions.items(), key=_sample))
        self._listener(FinishedRequest(drawn))


def _sample(drawn: tuple[int, Completion]) -> int:
    return drawn[0]
