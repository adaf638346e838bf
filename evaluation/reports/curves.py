"""Geometry of the rate as a function of the threshold. The template draws it, so that labels pass its escaping."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.reports.plots import Tick
from evaluation.reports.report_data import EntailmentFigures

_WIDTH, _HEIGHT = 520.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 400.0, 30.0, 236.0
_COLOURS = 6


@dataclass(frozen=True, slots=True)
class Series:
    """One arm: line and band as SVG points. style is a class name of the style sheet."""

    label: str
    style: str
    line: str
    band: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A line chart in user units. own: x of the run's own threshold, None where it is not in the picture."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    series: tuple[Series, ...]
    own: float | None


def threshold_curve(figures: EntailmentFigures) -> Curve:
    """The hallucinated share of each arm by threshold, with its pointwise band; undefined points are left out."""
    series = []
    for i, arm in enumerate(figures.arms):
        points = [
            (row.threshold, e.rate, e.lower, e.upper)
            for row in figures.rows
            if (e := row.rates[i]).rate is not None and e.lower is not None and e.upper is not None
        ]
        line = " ".join(f"{_x(t)},{_y(rate)}" for t, rate, _, _ in points)
        above = [f"{_x(t)},{_y(upper)}" for t, _, _, upper in points]
        below = [f"{_x(t)},{_y(lower)}" for t, _, lower, _ in reversed(points)]
        series.append(Series(arm, f"c{i % _COLOURS}", line, " ".join((*above, *below)), _TOP + 14.0 + 18.0 * i))
    x_ticks = tuple(Tick(_x(t / 10), f"{t / 10:g}") for t in range(0, 11, 2))
    y_ticks = tuple(Tick(_y(t / 100), f"{t} %") for t in range(0, 101, 25))
    own = _x(figures.threshold) if 0.0 <= figures.threshold <= 1.0 else None
    return Curve(_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM, x_ticks, y_ticks, tuple(series), own)


def _x(threshold: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * threshold, 2)


def _y(share: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share, 2)
