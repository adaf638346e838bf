"""Write the report's charts as SVG files (for PNG see evaluation.reports.raster)."""

from __future__ import annotations

import re
from pathlib import Path

from evaluation.errors import EvaluationError
from evaluation.reports.analysis_view import analysis_view
from evaluation.reports.curves import threshold_curve
from evaluation.reports.policy_view import policy_charts
from evaluation.reports.report import packaged_text, template_environment
from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import build_view

_TITLES = {
    "grid": "Hallucinated share of all responses by decoding",
    "drift": "Unsupported claims by position",
    "calibration": "Mean V(c) by P(c | x)",
    "signals": "Hallucinated share of the answers given",
}


def plots(data: ReportData) -> dict[str, str]:
    """Return the report's charts as SVG texts by file name.

    The charts are: outcomes of each arm, each difference, the rate by threshold, the rate of each policy by answer
        rate,
    and the charts of the analysis.
    """
    environment, style = template_environment(), packaged_text("plot.css")
    bars, curve = environment.get_template("bars.svg.j2"), environment.get_template("curve.svg.j2")
    view = build_view(data)
    found: dict[str, str] = {}
    for n, arm in enumerate(view.arms, start=1):
        title = f"{arm.arm.arm}: {arm.arm.responses} responses to {arm.arm.questions} questions, percent"
        found[f"arm-{n}-{_word(arm.arm.arm)}.svg"] = bars.render(chart=arm.bars, title=title, style=style)
    for n, pair in enumerate(view.pairs, start=1):
        one, two = pair.pair.baseline, pair.pair.other
        title = f"{one} − {two}, {pair.pair.questions} questions, percentage points"
        name = f"difference-{n}-{_word(one)}-{_word(two)}.svg"
        found[name] = bars.render(chart=pair.bars, title=title, style=style)
    if data.entailment is not None:
        title = "Hallucinated share of all responses by threshold"
        found["threshold.svg"] = curve.render(curve=threshold_curve(data.entailment), title=title, style=style)
    if data.policies is not None:
        for n, named in enumerate(policy_charts(data.policies)):
            title = f"Hallucinated share of the answers by answer rate: {named.title}"
            name = f"answer-rate-{n}-{_word(named.title)}.svg" if n else "answer-rate.svg"
            found[name] = curve.render(curve=named.chart, title=title, style=style)
    if data.analysis is not None:
        for word, named in analysis_view(data.analysis).charts:
            title = f"{_TITLES[word.split('-')[0]]}: {named.title}"
            found[f"{word}-{_word(named.title)}.svg"] = curve.render(curve=named.chart, title=title, style=style)
    return found


def write_plots(folder: Path, data: ReportData) -> tuple[Path, ...]:
    """Write the charts into a folder, which is created if missing. Return the paths.

    Raises EvaluationError, with the path, if the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in plots(data).items():
            (folder / name).write_text(text, encoding="utf-8")
            written.append(folder / name)
    except OSError as error:
        raise EvaluationError(f"cannot write plots to {folder}: {error.strerror}") from error
    return tuple(written)


def _word(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-")[:40] or "arm"
