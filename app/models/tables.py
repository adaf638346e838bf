"""Tables of a model's evaluation for a terminal of 80 columns. Each figure has its interval on the next line."""

from __future__ import annotations

from rich import box
from rich.table import Table

from app.console import printable
from evaluation.detection.intervals import ScoreEstimate
from evaluation.detection.scores import DetectionScores
from evaluation.detection.spans import SpanScores
from evaluation.detection.verifier_scores import VerifierReport
from evaluation.reading.reader_scores import ReaderReport, ReaderScores
from evaluation.reports.limits_text import limits_text


def reader_table(report: ReaderReport) -> Table:
    """Return a table of a reader's scores by source, and over all sources.

    Columns: F1 and exact match of answerable questions, right and wrong refusals, number of questions.
    """
    table = _table(
        "Percentages with 95 % intervals by article; ?: too few articles",
        ("F1", "exact match", "refused right", "refused wrong", "n"),
    )
    rows = report.sources if len(report.sources) > 1 else ()
    for scores in (*rows, report.overall):
        table.add_row(_name(scores.source), *_reader_cells(scores))
    return table


def verifier_table(report: VerifierReport) -> Table:
    """Return a table of a verifier's scores by source, their mean over sources, and over all examples."""
    table = _table(
        "Percentages with 95 % intervals by group, threshold 0.5; ?: too few groups",
        ("AUROC", "bal. acc.", "F1 halluc.", "calib. error", "n"),
    )
    sources = report.table.sources
    if len(sources) > 1:
        for row in sources:
            table.add_row(_name(row.source), *_detection_cells(row.scores))
        table.add_row("mean of sources", _cell(report.table.macro_auroc), "", "", "", str(len(sources)))
    table.add_row("all", *_detection_cells(report.table.overall))
    return table


def spans_table(report: VerifierReport) -> Table:
    """Return a table of how well sentences and weak words match the characters that people marked."""
    table = _table(
        "Marked characters: percentages with 95 % intervals by source text", ("precision", "recall", "F1", "marked")
    )
    named: tuple[tuple[str, SpanScores | None], ...] = (
        ("low sentences", report.spans),
        ("weak words", report.word_spans),
    )
    for name, spans in named:
        if spans is not None:
            figures = (_cell(spans.precision), _cell(spans.recall), _cell(spans.f1))
            table.add_row(name, *figures, f"{spans.characters:,}")
    return table


def speed(estimate: ScoreEstimate, what: str) -> str:
    """Return a speed as text, such as ``12.3 pairs/s [11.9, 12.8]``. what: unit of the count, such as "pairs"."""
    if estimate.estimate is None:
        return f"{what}/s undefined"
    limits = "" if estimate.lower is None else f" [{estimate.lower:,.1f}, {estimate.upper:,.1f}]"
    return f"{estimate.estimate:,.1f} {what}/s{limits}"


def _name(source: str) -> str:
    """Return the name of a source in one line of at most 24 characters."""
    return printable(" ".join(source.split()))[:24]


def _reader_cells(scores: ReaderScores) -> tuple[str, ...]:
    figures = (scores.f1, scores.em, scores.no_answer_accuracy, scores.refused_answerable)
    return (*map(_cell, figures), f"{scores.answerable} + {scores.unanswerable}")


def _detection_cells(scores: DetectionScores) -> tuple[str, ...]:
    figures = (scores.auroc, scores.balanced_accuracy, scores.f1_hallucinated, scores.calibration_error)
    return (*map(_cell, figures), f"{scores.n}\n{scores.hallucinated} hall.")


def _cell(estimate: ScoreEstimate) -> str:
    if estimate.estimate is None:
        return "undefined"
    if estimate.lower is None or estimate.upper is None:
        return f"{100 * estimate.estimate:.1f}\n[?]"
    doubt = " ?" if estimate.reason else ""
    return f"{100 * estimate.estimate:.1f}{doubt}\n{limits_text(estimate.lower, estimate.upper, separator=',')}"


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False
    )
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table
