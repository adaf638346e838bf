"""Create the charts of a run's analysis: grid, claim positions, claim calibration, detectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.analysis.calibration import ArmCalibration
from evaluation.analysis.claim_order import ArmDrift
from evaluation.analysis.detection import ArmSignals
from evaluation.analysis.grid import GridFigures, GridSetting
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.drift.positions import PositionCurve
from evaluation.reports.curves import Axis, Line, LineChart, Point, line_chart, spread_axis
from evaluation.statistics.bands import Band

_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class NamedChart:
    """A chart with its title and caption."""

    title: str
    chart: LineChart
    caption: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """An analysis and its charts.

    drift, calibration, signals: one entry per arm of that part of the analysis; None without a chart.
    """

    found: RunAnalysis
    grid: tuple[NamedChart, ...]
    drift: tuple[NamedChart | None, ...]
    calibration: tuple[NamedChart | None, ...]
    signals: tuple[NamedChart | None, ...]

    @property
    def charts(self) -> tuple[tuple[str, NamedChart], ...]:
        """All charts, each with a unique word for its file name."""
        groups = (("grid", self.grid), ("drift", self.drift), ("calibration", self.calibration))
        named = [(word, c) for word, charts in (*groups, ("signals", self.signals)) for c in charts if c is not None]
        return tuple((f"{word}-{n}", c) for n, (word, c) in enumerate(named, start=1))


def analysis_view(found: RunAnalysis) -> AnalysisView:
    """Create the charts of an analysis."""
    return AnalysisView(
        found,
        grid_charts(found.grid) if found.grid else (),
        tuple(_drift_chart(d) for d in found.drift),
        tuple(_calibration_chart(c) for c in found.calibration),
        tuple(_signal_chart(s) for s in found.signals),
    )


def setting_name(setting: GridSetting) -> str:
    """Return the display name of a setting, such as ``temperature 0.7, top-p 0.9, top-k 50`` or ``greedy``."""
    if setting.temperature == 0:
        return "greedy"
    parts = [f"temperature {setting.temperature:g}"]
    if setting.top_p < 1:
        parts.append(f"top-p {setting.top_p:g}")
    if setting.top_k is not None:
        parts.append(f"top-k {setting.top_k}")
    return ", ".join(parts)


def grid_charts(grid: GridFigures) -> tuple[NamedChart, ...]:
    """Return charts of the hallucinated share over the first of temperature, top-p and top-k that varies.

    There is one chart for each combination of the other two, and one per arm if there are many arms. Greedy decoding
    has temperature 0.
    """
    sampled = [(i, s) for i, s in enumerate(grid.settings) if s.temperature > 0]
    if not sampled:
        return ()
    if len({s.temperature for _, s in sampled}) > 1:
        return _over_temperature(grid, sampled)
    heat = f"temperature {sampled[0][1].temperature:g}"
    charts: list[NamedChart] = []
    if len({s.top_p for _, s in sampled}) > 1:
        for k in sorted({s.top_k or 0 for _, s in sampled}):
            positions = [(s.top_p, i) for i, s in sampled if (s.top_k or 0) == k]
            charts += _grid_charts(grid, positions, f"{heat}, top-k {k}" if k else heat, _axis(positions, "top-p"))
        return tuple(charts)
    if len({s.top_k for _, s in sampled}) > 1:
        positions = [(float(n), i) for n, (i, _) in enumerate(sampled)]
        names = tuple((x, str(grid.settings[i].top_k or "all")) for x, i in positions)
        return _grid_charts(grid, positions, heat, Axis(-0.3, len(positions) - 0.7, names, "top-k"))
    return _over_temperature(grid, sampled)


def _over_temperature(grid: GridFigures, sampled: Sequence[tuple[int, GridSetting]]) -> tuple[NamedChart, ...]:
    greedy = [(0.0, i) for i, s in enumerate(grid.settings) if s.temperature == 0]
    charts: list[NamedChart] = []
    for pair in sorted({(s.top_p, s.top_k or 0) for _, s in sampled}, key=lambda t: (-t[0], t[1])):
        positions = greedy + [(s.temperature, i) for i, s in sampled if (s.top_p, s.top_k or 0) == pair]
        charts += _grid_charts(grid, positions, _truncation_name(pair), _axis(positions, "temperature (0 is greedy)"))
    return tuple(charts)


def _axis(positions: Sequence[tuple[float, int]], title: str) -> Axis:
    return spread_axis([x for x, _ in positions], title)


def _truncation_name(pair: tuple[float, int]) -> str:
    top_p, top_k = pair
    words = [f"top-p {top_p:g}"] if top_p < 1 else []
    words += [f"top-k {top_k}"] if top_k else []
    return ", ".join(words) or "no truncation"


def _grid_charts(
    grid: GridFigures, positions: Sequence[tuple[float, int]], rest: str, axis: Axis
) -> tuple[NamedChart, ...]:
    """Return one chart for all arms, or one per arm if there are too many bands for one chart.

    positions: (x, index of the setting).
    rest: description of the settings that are fixed in the chart.
    """
    lines = [Line(arm.arm, _points(arm.hallucinated, positions)) for arm in grid.arms]
    caption = f"Bands hold for all settings of an arm together ({100 * grid.arms[0].hallucinated.level:g} %)."
    if len(lines) <= _TOGETHER:
        return (NamedChart(rest, line_chart(lines, axis), caption),)
    return tuple(NamedChart(f"{line.label}, {rest}", line_chart([line], axis), caption) for line in lines)


def _points(band: Band, positions: Sequence[tuple[float, int]]) -> tuple[Point, ...]:
    """Return the band's defined cells at their x, sorted by x."""
    return tuple(
        Point(x, rate, band.lower[i], band.upper[i])
        for x, i in sorted(positions)
        if (rate := band.rates[i]) is not None
    )


def _drift_chart(drift: ArmDrift) -> NamedChart | None:
    if drift.found is None:
        return None
    curves = (("unsupported at this position", drift.found.by_position), ("first unsupported here", drift.found.first))
    lines = [Line(name, _by_position(curve)) for name, curve in curves]
    positions = len(drift.found.by_position.band.rates)
    step = max(1, (positions + 9) // 10)
    ticks = tuple((float(k), str(k)) for k in range(1, positions + 1, step))
    axis = Axis(0.5, positions + 0.5, ticks, "position of the claim in the response")
    caption = "Only longer responses have later positions. Each line's band holds for all positions together."
    return NamedChart(drift.arm, line_chart(lines, axis), caption)


def _by_position(curve: PositionCurve) -> tuple[Point, ...]:
    band = curve.band
    return tuple(
        Point(float(k), rate, band.lower[k - 1], band.upper[k - 1])
        for k, rate in enumerate(band.rates, start=1)
        if rate is not None
    )


def _calibration_chart(arm: ArmCalibration) -> NamedChart | None:
    points = tuple(
        Point(row.expected, row.support.estimate, row.support.lower, row.support.upper)
        for row in arm.found.bins
        if row.expected is not None and row.support.estimate is not None
    )
    if not points:
        return None
    axis = Axis(
        0.0, 1.0, tuple((t / 4, f"{25 * t} %") for t in range(5)), "P(c | x): share of other samples that state it"
    )
    chart = line_chart([Line("mean V(c) of the claims in a bin", points, dotted=True)], axis, diagonal=True)
    return NamedChart(arm.arm, chart, "On the diagonal, P(c) equals the share of true claims.")


def _signal_chart(arm: ArmSignals) -> NamedChart | None:
    lines = [
        Line(d.signal, tuple(Point(p.coverage, p.risk) for p in d.curve.points))
        for d in arm.detectors
        if d.curve is not None
    ]
    if not lines:
        return None
    axis = Axis(
        0.0, 1.0, tuple((t / 4, f"{25 * t} %") for t in range(5)), "share of questions answered, most confident first"
    )
    return NamedChart(arm.arm, line_chart(lines, axis), "Hallucinated share of the answers given.")
