"""Show the progress of an index job, as bars on a terminal or as occasional lines in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.console import Output
from app.log_lines import EVERY_S, duration
from retrieval.indexing.report import IndexProgress

_GRAPH_GROWS = 1.4
"""The time to build a graph of n vectors grows with this power of n (docs/indexing.md)."""
_LONG_S = 120.0
_ENOUGH_S = 5.0

_UNITS = {
    "documents": "documents read",
    "chunks": "documents chunked",
    "vectors": "chunks embedded",
    "words": "documents indexed for BM25",
    "index": "vectors indexed",
    "publishing": "published",
}


class ProgressLines:
    """A progress listener that logs rate and remaining time, at most once per ``every`` seconds."""

    def __init__(self, notify: Callable[[str], None], clock: Callable[[], float], every: float = EVERY_S) -> None:
        """say: function that logs a line. clock: function that returns a monotonic time in seconds."""
        self._notify = notify
        self._clock = clock
        self._every = every
        self._reported = clock()
        self._began: dict[str, tuple[float, int]] = {}

    def update(self, progress: IndexProgress) -> None:
        """Record the progress, and log a line if one is due. The phases "documents" and "chunks" are not logged."""
        now = self._clock()
        began, first = self._began.setdefault(progress.phase, (now, progress.done))
        running = progress.total is None or progress.done < progress.total
        if now - self._reported < self._every or not running or progress.phase in ("documents", "chunks"):
            return
        self._reported = now
        seconds, done = now - began, progress.done - first
        rate = done / seconds if seconds > 0 else 0.0
        total = f" of {progress.total:,}" if progress.total is not None else ""
        seconds_left = remaining(progress, first, seconds)
        left = "" if seconds_left is None else f", {duration(seconds_left)} left"
        self._notify(f"{_UNITS[progress.phase]}: {progress.done:,}{total}, {rate:,.1f}/s{left}")


class GraphNotice:
    """A progress listener that announces a slow graph build once, with its estimated time and faster alternatives."""

    def __init__(self, notify: Callable[[str], None], clock: Callable[[], float]) -> None:
        """say: function that prints the notice. clock: function that returns a monotonic time in seconds."""
        self._notify, self._clock = notify, clock
        self._began: tuple[float, int] | None = None
        self._reported = False

    def update(self, progress: IndexProgress) -> None:
        """Record the progress, and print the notice as soon as the estimate is stable."""
        if self._reported or progress.phase != "index" or not (progress.kind or "").startswith("hnsw"):
            return
        if self._began is None:
            self._began = (self._clock(), progress.done)
            return
        began, first = self._began
        seconds = self._clock() - began
        left = remaining(progress, first, seconds)
        if seconds < _ENOUGH_S or left is None:
            return
        self._reported = True
        if left >= _LONG_S:
            self._notify(
                f"a graph (HNSW) of {progress.total:,} vectors is built by one thread: about {duration(left)} "
                "more. --index ivf takes a fraction of that, --index flat and sq8 almost nothing "
                "(docs/indexing.md compares them); embedded chunks are kept, so you can stop the command and "
                "run it again with another --index"
            )


def remaining(progress: IndexProgress, first: int, seconds: float) -> float | None:
    """Return the remaining seconds of a phase, or None while they are unknown.

    first: number of items that were done at its start. seconds: time since its start.
    """
    power = _GRAPH_GROWS if (progress.kind or "").startswith("hnsw") else 1.0
    work_done = progress.done**power - first**power
    if progress.total is None or work_done <= 0 or seconds <= 0:
        return None
    return float(seconds * (progress.total**power - progress.done**power) / work_done)


@contextmanager
def shown_progress(output: Output, clock: Callable[[], float]) -> Iterator[Callable[[IndexProgress], None]]:
    """Yield a progress listener for an index job that writes to stderr. clock: returns a monotonic time in seconds."""
    notice = GraphNotice(output.info, clock)
    if not output.err.is_terminal:
        lines = ProgressLines(output.info, clock)

        def report(progress: IndexProgress) -> None:
            notice.update(progress)
            lines.update(progress)

        yield report
        return
    with output.progress() as bar:

        def show(progress: IndexProgress) -> None:
            notice.update(progress)
            bar.update(_UNITS[progress.phase], progress.done, progress.total)

        yield show
