"""The indexing job's progress for people: bars on a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.console import Output
from app.log_lines import EVERY_S, duration
from retrieval.indexing.report import IndexProgress

_GRAPH_GROWS = 1.4
"""Building a graph of n vectors takes time that grows with this power of n (measured: docs/indexing.md)."""
_LONG_S = 120.0
_ENOUGH_S = 5.0

_UNITS = {
    "documents": "documents read",
    "chunks": "documents cut",
    "vectors": "chunks embedded",
    "words": "documents counted",
    "index": "vectors indexed",
    "publishing": "published",
}


class ProgressLines:
    """Says where the job is at most every ``every`` seconds, with the rate and the time that remains."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float], every: float = EVERY_S) -> None:
        """clock: seconds, never going back."""
        self._say = say
        self._clock = clock
        self._every = every
        self._said = clock()
        self._began: dict[str, tuple[float, int]] = {}

    def update(self, progress: IndexProgress) -> None:
        """Take note; say something if it is time and the phase that takes longest has moved."""
        now = self._clock()
        began, first = self._began.setdefault(progress.phase, (now, progress.done))
        running = progress.total is None or progress.done < progress.total
        if now - self._said < self._every or not running or progress.phase in ("documents", "chunks"):
            return
        self._said = now
        seconds, done = now - began, progress.done - first
        rate = done / seconds if seconds > 0 else 0.0
        total = f" of {progress.total:,}" if progress.total is not None else ""
        seconds_left = remaining(progress, first, seconds)
        left = "" if seconds_left is None else f", {duration(seconds_left)} left"
        self._say(f"{_UNITS[progress.phase]}: {progress.done:,}{total}, {rate:,.1f}/s{left}")


class GraphNotice:
    """Says once, soon after a graph was begun, how long it will take and what would be faster, if that is long."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float]) -> None:
        """clock: seconds, never going back."""
        self._say, self._clock = say, clock
        self._began: tuple[float, int] | None = None
        self._said = False

    def update(self, progress: IndexProgress) -> None:
        """Take note; say it when enough was seen."""
        if self._said or progress.phase != "index" or not (progress.kind or "").startswith("hnsw"):
            return
        if self._began is None:
            self._began = (self._clock(), progress.done)
            return
        began, first = self._began
        seconds = self._clock() - began
        left = remaining(progress, first, seconds)
        if seconds < _ENOUGH_S or left is None:
            return
        self._said = True
        if left >= _LONG_S:
            self._say(
                f"a graph (HNSW) of {progress.total:,} vectors is built by one thread: about {duration(left)} more. "
                "--index ivf takes a fraction of that, --index flat and sq8 next to nothing (docs/indexing.md compares "
                "them); what is embedded is kept, so the command may be stopped and run again with another --index"
            )


def remaining(progress: IndexProgress, first: int, seconds: float) -> float | None:
    """Seconds that the phase will take still, after the ``seconds`` that it took from ``first`` to ``done``; None while
    that cannot be known."""
    power = _GRAPH_GROWS if (progress.kind or "").startswith("hnsw") else 1.0
    behind = progress.done**power - first**power
    if progress.total is None or behind <= 0 or seconds <= 0:
        return None
    return float(seconds * (progress.total**power - progress.done**power) / behind)


@contextmanager
def shown_progress(output: Output, clock: Callable[[], float]) -> Iterator[Callable[[IndexProgress], None]]:
    """A listener for the indexing job that writes to stderr."""
    notice = GraphNotice(output.say, clock)
    if not output.err.is_terminal:
        lines = ProgressLines(output.say, clock)

        def told(progress: IndexProgress) -> None:
            notice.update(progress)
            lines.update(progress)

        yield told
        return
    with output.progress() as bar:

        def show(progress: IndexProgress) -> None:
            notice.update(progress)
            bar.update(_UNITS[progress.phase], progress.done, progress.total)

        yield show
