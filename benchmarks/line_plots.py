"""Small line charts on logarithmic axes as one SVG, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP = 330.0, 220.0, 58.0, 30.0, 36.0, 26.0
_COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44", "#7a4f9a")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart. points: (x, y), both above 0."""

    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart. title: text with the unit of y. x_title: label of the x axis."""

    title: str
    x_title: str
    lines: tuple[Line, ...]


def svg(panels: Sequence[Panel], columns: int = 2) -> str:
    """Return all panels in a grid. Raises ValueError for a point that a logarithmic axis cannot show."""
    rows = math.ceil(len(panels) / columns)
    width, height = WIDTH * columns, HEIGHT * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        'font-size="10">'
    ]
    for index, panel in enumerate(panels):
        parts.append(f'<g transform="translate({WIDTH * (index % columns):g} {HEIGHT * (index // columns):g})">')
        parts += _panel(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel) -> list[str]:
    points = [point for line in panel.lines for point in line.points]
    if any(x <= 0 or y <= 0 for x, y in points):
        raise ValueError(f"{panel.title!r} has a point that is not above 0: {points}")
    x_low, x_high = _limits([x for x, _ in points])
    y_low, y_high = _limits([y for _, y in points])

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)

    parts = [f'<text x="{LEFT}" y="14" font-weight="bold">{escape(panel.title)}</text>']
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(panel.x_title)}</text>')
    for power in range(x_low, x_high + 1):
        x, y = at(10.0**power, 10.0**y_low)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{TOP}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 13:.1f}" text-anchor="middle">{_number(power)}</text>')
    for power in range(y_low, y_high + 1):
        x, y = at(10.0**x_low, 10.0**power)
        parts.append(f'<line x1="{x:.1f}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 5:.1f}" y="{y + 3:.1f}" text-anchor="end">{_number(power)}</text>')
    for number, line in enumerate(panel.lines):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [at(x, y) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>' for x, y in places]
        height = TOP + 11 + 12 * number
        parts.append(f'<text x="{LEFT + 8}" y="{height}" fill="{colour}">{escape(line.label)}</text>')
    return parts


def _limits(values: Sequence[float]) -> tuple[int, int]:
    """Return the exponents of the powers of ten around the values, at least one apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
