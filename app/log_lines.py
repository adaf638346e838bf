"""Report progress by log lines, if there is no terminal."""

from __future__ import annotations

from collections.abc import Callable

EVERY_S = 30.0


class LogLines:
    """A progress display for logs, with the interface of console.Bar. It writes no lines for short tasks."""

    def __init__(self, notify: Callable[[str], None], clock: Callable[[], float], every: float = EVERY_S) -> None:
        """say: writes a line. clock: monotonic time in seconds. every: shortest interval between lines, in seconds."""
        self._notify, self._clock, self._every = notify, clock, every
        self._last_logged = clock()
        self._began: dict[str, tuple[float, int]] = {}
        self._notes: dict[str, str] = {}

    def update(self, what: str, done: int, total: int | None, unit: str = "/s") -> None:
        """Record the progress, and log it with rate and remaining time if the interval has passed."""
        now = self._clock()
        began, first = self._began.setdefault(what, (now, done))
        if now - self._last_logged < self._every or (total is not None and done >= total):
            return
        self._last_logged = now
        rate = (done - first) / (now - began) if now > began else 0.0
        parts = [f"{what}: {done:,}" + (f" of {total:,}" if total is not None else "")]
        if what in self._notes:
            parts.append(self._notes[what])
        elif rate > 0:
            parts.append(f"{rate:,.1f}{unit}")
        if total is not None and rate > 0:
            parts.append(f"{duration((total - done) / rate)} left")
        self._notify(", ".join(parts))

    def note(self, what: str, text: str) -> None:
        """Show a note instead of the rate, from the next line on."""
        self._notes[what] = text


def duration(seconds: float) -> str:
    """Format a duration, for example 45 s, 12 min or 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
