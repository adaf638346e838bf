"""Compute the geometry of the report's bar charts. The template renders them, so that all labels are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.statistics.estimates import HallucinationEstimate

WIDTH = 400.0
LABEL = 84.0
VALUE = 166.0
ROW = 30.0
AXIS = 22.0


@dataclass(frozen=True, slots=True)
class Row:
    """One bar with its whisker. y: middle of the row. defined: False for an undefined row without bar and whisker."""

    label: str
    style: str
    y: float
    defined: bool
    bar_x: float
    bar_width: float
    point: float
    lower: float
    upper: float
    value: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A named grid line at x."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A horizontal bar chart in SVG user units. zero: x of the value 0."""

    width: float
    height: float
    top: float
    bottom: float
    zero: float
    value_x: float
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar to draw. style: class name in the style sheet, never external text. value: text of the value."""

    label: str
    style: str
    estimate: HallucinationEstimate
    value: str


def chart(bars: Sequence[Bar], low: float, high: float, ticks: Sequence[float]) -> Chart:
    """Lay out bars on an axis from low to high (shares, -1 to 1 for differences).

    Limits outside the axis are clipped. Raises ValueError unless low < high.
    """
    if not low < high:
        raise ValueError(f"the axis runs from {low} to {high}: low must be below high")
    span = WIDTH - LABEL - VALUE

    def x(value: float) -> float:
        return round(LABEL + span * (min(max(value, low), high) - low) / (high - low), 2)

    zero = x(0.0)
    rows = []
    for i, bar in enumerate(bars):
        y = AXIS + ROW * (i + 0.5)
        e = bar.estimate
        if e.rate is None or e.lower is None or e.upper is None:
            rows.append(Row(bar.label, bar.style, y, False, zero, 0.0, zero, zero, zero, bar.value))
            continue
        point = x(e.rate)
        rows.append(
            Row(
                bar.label,
                bar.style,
                y,
                True,
                min(zero, point),
                abs(point - zero),
                point,
                x(e.lower),
                x(e.upper),
                bar.value,
            )
        )
    bottom = AXIS + ROW * len(bars)
    marks = tuple(Tick(x(t), f"{100 * t:.0f}") for t in ticks)
    return Chart(WIDTH, bottom + 6.0, AXIS, bottom, zero, WIDTH - 1.0, tuple(rows), marks)
