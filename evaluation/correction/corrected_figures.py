"""Corrected figures for the report, or the reason why there are none.

Only the first questions of the draw up to the first without complete labels are used. The beginning of a random order
is a random draw, whatever was labelled after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.correction.agreement import Agreement
from evaluation.correction.corrected import CorrectedRun, CorrectedSettings, correct
from evaluation.correction.label_progress import Annotator, LabelProgress
from evaluation.correction.label_store import StoredDraw
from evaluation.correction.labelled_run import join_labels
from evaluation.errors import EvaluationError
from evaluation.statistics.counts import OutcomeRecord
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import default_pairs

FEWEST_QUESTIONS = 5
"""Minimum number of labelled questions for corrected figures."""


@dataclass(frozen=True, slots=True)
class CorrectedFigures:
    """Corrected figures of a run with the state of its labels.

    run: None if nothing can be corrected yet; ``reason`` says why. wanted: number of questions to be labelled. used:
    number of labelled questions that the figures are based on. ties: number of labels on which annotators are evenly
    split without adjudication; they count as "cannot tell". source: how the labels were collected, in one sentence.
    """

    run: CorrectedRun | None
    reason: str
    wanted: int
    used: int
    ties: int
    annotators: tuple[Annotator, ...]
    agreement: tuple[Agreement, ...]
    source: str


def figures_of(
    records: Sequence[OutcomeRecord],
    stored: StoredDraw,
    progress: LabelProgress,
    settings: CorrectedSettings | None = None,
    summary: RunSummary | None = None,
) -> CorrectedFigures:
    """Compute the corrected figures of a run.

    records: the verifier's outcomes with the draw's decoding. summary: summary of the run, whose figures are the
    uncorrected ones. Missing labels, or a run that changed since the draw, do not raise an error; ``reason`` reports
    them.
    """
    draw = stored.draw
    used = progress.complete
    run, reason = None, ""
    if stored.stratified and used < len(draw.questions):
        reason = (
            f"{used} of {len(draw.questions)} questions are labelled in the order of the draw: a stratified or active "
            "draw must be labelled completely"
        )
    elif used < FEWEST_QUESTIONS:
        reason = f"the first {used} questions of the draw are labelled: at least {FEWEST_QUESTIONS} are needed"
    else:
        part = draw if stored.stratified else draw.first(used)
        keys = {(q.question_id, s.arm, s.sample) for q in part.questions for s in q.samples}
        try:
            joined = join_labels(records, part, {k: v for k, v in progress.outcomes.items() if k in keys})
            run = correct(joined, default_pairs(draw.arms, "closed_book"), settings, summary)
        except EvaluationError as error:
            reason = str(error)
    source = f"a random draw of {used} of {draw.population} questions (seed {draw.seed}), one response of each arm"
    return CorrectedFigures(
        run,
        reason,
        stored.wanted,
        used if run else 0,
        progress.ties,
        progress.annotators,
        progress.agreement,
        source + (", by strata of the verdict" if stored.stratified else ""),
    )
