"""Load stored runs for exports and comparisons."""

from __future__ import annotations

from app.pipeline import Pipeline
from app.runs.names import distinct_names
from app.runs.report import report_data
from evaluation.exports.records import ExportRun
from evaluation.reports.comparison import compare_runs
from evaluation.reports.report_data import ReportData
from evaluation.runs.run_store import RunStore


def comparison_data(pipeline: Pipeline, run_id: str, against_id: str) -> ReportData:
    """Return a report that compares two stored runs on their common questions.

    Raises EvaluationError for an unknown run and for runs without a common question or arm. Raises AppError for a run
    without a finished sample.
    """
    runs = RunStore(pipeline.store)
    names = distinct_names(runs.load_run(run_id), runs.load_run(against_id))
    return compare_runs(report_data(pipeline, run_id), report_data(pipeline, against_id), *names)


def export_run(pipeline: Pipeline, run_id: str) -> ExportRun:
    """Return a stored run in the form of evaluation.exports. Raises EvaluationError if it does not exist."""
    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    labels = dict(info.labels)
    return ExportRun(
        info.id,
        info.name,
        (info.finished_at or info.created_at).isoformat(timespec="seconds"),
        labels.get("model", ""),
        info.config.verifier,
        labels.get("command", ""),
        runs.load_questions(info.id),
        runs.load_samples(info.id),
    )
