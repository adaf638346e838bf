"""Convert a stored run to a baseline, and compare a run with a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.errors import AppError
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.gating.baseline import (
    Baseline,
    iso,
    outcome_counts,
    premises_of,
    question_hash,
    read_baseline,
)
from evaluation.gating.regression import (
    Compared,
    GateReport,
    broken_premises,
    changed_premises,
    compare_to_baseline,
)
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import summarise
from evaluation.verifiers.routing import excluded_from_differences

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class GatedRun:
    """A finished run with its questions, outcomes and summary."""

    info: RunInfo
    questions: tuple[Question, ...]
    records: tuple[OutcomeRecord, ...]
    summary: RunSummary


def gated_run(pipeline: Pipeline, run_id: str) -> GatedRun:
    """Load a finished run. run_id: ID, or ``latest`` for the newest run.

    Raises EvaluationError for an unknown run, AppError if the run is not finished or if there is no run.
    """
    runs = RunStore(pipeline.store)
    if run_id == LATEST:
        listed = runs.list_runs()
        if not listed:
            raise AppError(f"there is no run in {pipeline.home}: start one with plumbline evaluate")
        run_id = max(listed, key=lambda info: info.created_at).id
    info = runs.load_run(run_id)
    if info.status != "finished":
        raise AppError(f"run {info.id} is not finished ({info.status}): run the same plumbline evaluate again")
    questions = runs.load_questions(info.id)
    order = [arm.name for arm in info.config.arms]
    samples = sorted(runs.load_samples(info.id), key=lambda sample: order.index(sample.arm))
    records = tuple(OutcomeRecord(s.question_id, s.arm, s.sample, s.evaluation.outcome) for s in samples)
    excluded = {q.id for q in questions if excluded_from_differences(info.config.verifier, q)}
    return GatedRun(info, questions, records, summarise(OutcomeTable.from_records(records), excluded=excluded))


def baseline_of(run: GatedRun) -> Baseline:
    """Return the run as a baseline."""
    estimates = {
        arm.arm: {
            name: {"rate": e.rate, "lower": e.lower, "upper": e.upper, "level": e.level}
            for name, e in (
                ("hallucinated", arm.hallucinated.default),
                ("supported", arm.supported.default),
                ("abstained", arm.abstained.default),
                ("unscored", arm.unscored.default),
            )
        }
        for arm in run.summary.arms
    }
    return Baseline(
        run.info.id,
        iso(run.info.finished_at or run.info.created_at),
        premises_of(run.info.config),
        {q.id: question_hash(q) for q in run.questions},
        outcome_counts(run.records),
        estimates,
    )


def compare_with_baseline(
    run: GatedRun, path: Path, *, level: float, margin: float, other_questions: bool, conditions: tuple[str, ...] = ()
) -> GateReport:
    """Compare the run with a baseline file.

    level: confidence level of all one-sided tests together. margin: tolerated change for the worse, in [0, 1).
    other_questions: whether the question sets may differ. conditions: texts of the met --fail-if conditions, for the
    report. Raises EvaluationError for a baseline that cannot be read or compared.
    """
    baseline = read_baseline(path)
    premises = premises_of(run.info.config)
    broken = broken_premises(baseline, premises, other_questions)
    compared: tuple[Compared, ...] = ()
    if not broken:
        hashes = {q.id: question_hash(q) for q in run.questions}
        compared = compare_to_baseline(baseline, outcome_counts(run.records), hashes, level=level, margin=margin)
    changed = tuple(changed_premises(baseline, premises))
    return GateReport(run.info.id, baseline.run, level, margin, tuple(broken), changed, compared, conditions)
