"""Progress where there is no terminal: a line in the log now and then."""

from __future__ import annotations

from collections.abc import Callable

EVERY_S = 30.0


class LogLines:
    """What console.Bar is on a terminal, at most a line every ``every`` seconds; what ends sooner says nothing."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float], every: float = EVERY_S) -> None:
        """clock: seconds, never going back."""
        self._say, self._clock, self._every = say, clock, every
        self._said = clock()
        self._began: dict[str, tuple[float, int]] = {}
        self._notes: dict[str, str] = {}

    def update(self, what: str, done: int, total: int | None, unit: str = "/s") -> None:
        """Take note of what is counted; say it, with its rate and the time that remains, if it is time."""
        now = self._clock()
        began, first = self._began.setdefault(what, (now, done))
        if now - self._said < self._every or (total is not None and done >= total):
            return
        self._said = now
        rate = (done - first) / (now - began) if now > began else 0.0
        parts = [f"{what}: {done:,}" + (f" of {total:,}" if total is not None else "")]
        if what in self._notes:
            parts.append(self._notes[what])
        elif rate > 0:
            parts.append(f"{rate:,.1f}{unit}")
        if total is not None and rate > 0:
            parts.append(f"{duration((total - done) / rate)} left")
        self._say(", ".join(parts))

    def note(self, what: str, text: str) -> None:
        """Say something of what was updated, in place of its rate, from the next line on."""
        self._notes[what] = text


def duration(seconds: float) -> str:
    """As people say it: 45 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
