"""The indexing job's progress for people: bars on a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.console import Output
from retrieval.index_report import IndexProgress

_EVERY_S = 30.0

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

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float], every: float = _EVERY_S) -> None:
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
        left = ""
        if rate > 0 and progress.total is not None:
            left = f", {duration((progress.total - progress.done) / rate)} left"
        self._say(f"{_UNITS[progress.phase]}: {progress.done:,}{total}, {rate:,.1f}/s{left}")


def duration(seconds: float) -> str:
    """As people say it: 45 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def shown_progress(output: Output, clock: Callable[[], float]) -> Iterator[Callable[[IndexProgress], None]]:
    """A listener for the indexing job that writes to stderr."""
    if not output.err.is_terminal:
        yield ProgressLines(output.say, clock).update
        return
    with output.progress() as bar:

        def show(progress: IndexProgress) -> None:
            bar.update(_UNITS[progress.phase], progress.done, progress.total)

        yield show
