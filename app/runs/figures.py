"""The figures of a run as Python objects, with the content of ``plumbline report RUN --json``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.labelling.draws import DrawRequest, open_draw
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline
from app.runs.analysis import AnalysisOptions
from app.runs.comparison import export_run
from app.runs.evaluate import EvaluationPlan, evaluate, full_run_id
from app.runs.rates_line import rates_html, rates_line
from app.runs.report import report_data
from evaluation.analysis.policy_figures import PolicyFigures
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.exports.responses import JudgedResponse, run_responses
from evaluation.exports.tables import data_frame
from evaluation.runs.experiment import Progress
from evaluation.statistics.run_summary import RunSummary

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class RunFigures:
    """The figures of a run.

    id: ID of the run. summary: rates and paired differences by the verifier. corrected: figures corrected by human
    labels; None without labels. analysis: further analyses. notes: remarks for the reader. responses: all judged
    responses. policies: rates, costs and curves of the policies; None for a run without policies.
    """

    id: str
    summary: RunSummary
    corrected: CorrectedFigures | None
    analysis: RunAnalysis | None
    notes: tuple[str, ...]
    responses: tuple[JudgedResponse, ...] = ()
    policies: PolicyFigures | None = None

    def to_pandas(self) -> pd.DataFrame:
        """Return the responses as rows: question, arm, answer, outcome, support, contexts and more (docs/score.md).

        Raises EvaluationError if pandas is not installed.
        """
        return data_frame(self.responses)

    def __repr__(self) -> str:
        return f"RunFigures({self.id!r}, {rates_line(self.summary)})"

    def _repr_html_(self) -> str:
        """Return the rates of the arms as HTML for a notebook."""
        return rates_html(f"run {self.id}", self.summary)


def run_figures(pipeline: Pipeline, run_id: str, options: AnalysisOptions | None = None) -> RunFigures:
    """Return the figures of a stored run. run_id: its ID or a prefix. Raises the errors of ``report_data``."""
    full = full_run_id(pipeline, run_id)
    data = report_data(pipeline, full, options)
    responses = tuple(run_responses(export_run(pipeline, full)))
    return RunFigures(full, data.summary, data.corrected, data.analysis, data.notes, responses, data.policies)


def evaluated(
    pipeline: Pipeline, plan: EvaluationPlan, name: str, progress: Callable[[Progress], None] | None
) -> RunFigures:
    """Run or resume a plan and return its figures. Raises the errors of ``evaluate``."""
    return run_figures(pipeline, evaluate(pipeline, plan, name=name, progress=progress).run_id)


def label_session(
    pipeline: Pipeline,
    run_id: str,
    annotator: str,
    questions: int | None,
    arms: Sequence[str],
    seed: int | None,
    adjudicate: bool,
) -> LabelSession:
    """Return the label session of one annotator for a finished run. Creates the run's draw if it has none.

    Raises the errors of ``open_draw``.
    """
    drawn = open_draw(pipeline, run_id, DrawRequest(questions, tuple(arms), seed))
    return LabelSession(pipeline.store, drawn, annotator, adjudicate)
