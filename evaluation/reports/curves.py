"""Compute the geometry of line charts: rates with bands over settings, thresholds or positions.

The template renders them, so that all labels are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.reports.plots import Tick
from evaluation.reports.report_data import EntailmentFigures

_WIDTH = 520.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 498.0, 30.0, 236.0
_LEGEND_ROW, _AXIS_ROOM = 18.0, 40.0
COLOURS = 6


@dataclass(frozen=True, slots=True)
class Point:
    """A value at x, with optional limits."""

    x: float
    y: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A named line of points. dotted: whether it is drawn as dots with whiskers, without a connecting line."""

    label: str
    points: tuple[Point, ...]
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from low to high, with named ticks."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    title: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A point in SVG user units. lower, upper: y of its limits; None without limits."""

    x: float
    y: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Series:
    """A line in SVG user units.

    style: class in the style sheet. line, band: SVG points of line and band; "" to draw none.
    label_y: y of the label in the legend.
    """

    label: str
    style: str
    line: str
    band: str
    dots: tuple[Dot, ...]
    label_y: float


@dataclass(frozen=True, slots=True)
class LineChart:
    """A chart in SVG user units with its legend below.

    mark: x of a vertical line; None for no line. diagonal: SVG points of the line y = x; "" for no line.
    """

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_title: str
    series: tuple[Series, ...]
    mark: float | None
    diagonal: str


PERCENT = Axis(0.0, 1.0, tuple((t / 100, f"{t} %") for t in range(0, 101, 25)), "")


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis = PERCENT, mark: float | None = None, diagonal: bool = False
) -> LineChart:
    """Lay out lines. Points and limits beyond the axes are clipped.

    mark: value of x to mark by a vertical line; None for no line.
    diagonal: whether to draw y = x.
    """
    across = _scale(x, _LEFT, _RIGHT)
    up = _scale(y, _BOTTOM, _TOP)
    series = []
    for i, line in enumerate(lines):
        dots = tuple(
            Dot(
                across(p.x), up(p.y), None if p.lower is None else up(p.lower), None if p.upper is None else up(p.upper)
            )
            for p in line.points
        )
        above = [f"{d.x},{d.upper}" for d in dots if d.upper is not None]
        below = [f"{d.x},{d.lower}" for d in reversed(dots) if d.lower is not None]
        joined = not line.dotted
        path = " ".join(f"{d.x},{d.y}" for d in dots) if joined else ""
        band = " ".join((*above, *below)) if joined and len(above) > 1 else ""
        # A single point has no line, so its dot and whisker are drawn.
        shown = dots if line.dotted or len(dots) < 2 else tuple(Dot(d.x, d.y, None, None) for d in dots)
        label_y = _BOTTOM + _AXIS_ROOM + _LEGEND_ROW * (i + 0.6)
        series.append(Series(line.label, f"c{i % COLOURS}", path, band, shown, round(label_y, 2)))
    height = _BOTTOM + _AXIS_ROOM + _LEGEND_ROW * len(series) + 6.0
    low, high = max(x.low, y.low), min(x.high, y.high)
    return LineChart(
        _WIDTH,
        height,
        _LEFT,
        _RIGHT,
        _TOP,
        _BOTTOM,
        tuple(Tick(across(value), name) for value, name in x.ticks),
        tuple(Tick(up(value), name) for value, name in y.ticks),
        x.title,
        tuple(series),
        across(mark) if mark is not None and x.low <= mark <= x.high else None,
        f"{across(low)},{up(low)} {across(high)},{up(high)}" if diagonal else "",
    )


def threshold_curve(figures: EntailmentFigures) -> LineChart:
    """Return a chart of each arm's hallucinated share by threshold, with pointwise bands.

    Undefined points are left out.
    """
    lines = [
        Line(
            arm,
            tuple(
                Point(row.threshold, e.rate, e.lower, e.upper)
                for row in figures.rows
                if (e := row.rates[i]).rate is not None and e.lower is not None and e.upper is not None
            ),
        )
        for i, arm in enumerate(figures.arms)
    ]
    axis = Axis(0.0, 1.0, tuple((t / 10, f"{t / 10:g}") for t in range(0, 11, 2)), "threshold of support")
    return line_chart(lines, axis, mark=figures.threshold)


def spread_axis(values: Sequence[float], title: str) -> Axis:
    """Return an axis that covers these values, with a tick for each and a margin. A single value is in the middle."""
    distinct = sorted(set(values))
    room = (distinct[-1] - distinct[0]) * 0.04 or 0.5
    return Axis(distinct[0] - room, distinct[-1] + room, tuple((v, f"{v:g}") for v in distinct), title)


def _scale(axis: Axis, start: float, end: float) -> Callable[[float], float]:
    def scaled(value: float) -> float:
        share = (min(max(value, axis.low), axis.high) - axis.low) / (axis.high - axis.low)
        return round(start + (end - start) * share, 2)

    return scaled
