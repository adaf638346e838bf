"""The chart of a watch: the rate in service with its confidence sequence, by number of labelled answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from app.watching.status import CertificateWatch
from evaluation.guarantee.watching.stream import WatchReading

WIDTH, HEIGHT = 420.0, 200.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 12.0, 12.0, 28.0
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis. at: its coordinate."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class WatchChart:
    """Coordinates of an SVG of WIDTH by HEIGHT.

    band, line: lists of points.
    alpha, raised: coordinate of the certified rate, and of the answer that raised the alarm; None if there is none.
    rates, answers: marks on the axes.
    label: description of the chart as text.
    """

    band: str
    line: str
    alpha: float | None
    raised: float | None
    rates: tuple[Tick, ...]
    answers: tuple[Tick, ...]
    label: str


def watch_chart(watch: CertificateWatch) -> WatchChart | None:
    """Return the chart; None with fewer than three labelled answers.

    The band ends where no constant rate fits the answers any more.
    """
    history = [reading for reading in watch.reading.history if reading.rate is not None]
    last = watch.reading.watch
    if last.audited < FEWEST or not history:
        return None
    most_answers = float(last.audited)
    alpha = None if watch.certificate is None else watch.certificate.alpha
    top = _top([*(2 * (r.rate or 0.0) for r in history), 2 * (alpha or 0.0), 0.0 if last.changed else last.upper])

    def x(answers: float) -> float:
        return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * answers / most_answers, 1)

    def y(rate: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * min(rate, top) / top, 1)

    fitting = [r for r in history if not r.changed]
    band = [(x(r.audited), y(r.upper)) for r in fitting] + [(x(r.audited), y(r.lower)) for r in reversed(fitting)]
    return WatchChart(
        _points(band),
        _points((x(r.audited), y(r.rate or 0.0)) for r in history),
        None if alpha is None else y(alpha),
        None if last.raised_after is None or alpha is None else x(last.raised_after),
        tuple(Tick(y(top * part / 4), f"{100 * top * part / 4:g} %") for part in range(5)),
        tuple(Tick(x(round(most_answers * part / 4)), f"{most_answers * part / 4:.0f}") for part in _parts(last)),
        _words(last, alpha),
    )


def _parts(last: WatchReading) -> tuple[int, ...]:
    return (0, 4) if last.audited < 8 else (0, 1, 2, 3, 4)


def _top(seen: Iterable[float]) -> float:
    """Return the upper end of the rate axis: the greatest of these, rounded up to a multiple of 0.2, at most 1."""
    return min(1.0, math.ceil(5 * max(0.2, *seen) - 1e-9) / 5)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _words(last: WatchReading, alpha: float | None) -> str:
    text = f"Hallucination rate after each of {last.audited} labelled answers, with its confidence sequence"
    return text if alpha is None else f"{text}; the certified rate is {100 * alpha:g} %"
