"""Define the data of a report: the run's settings, its figures, and every answer with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.analysis.abstentions import Abstentions
from evaluation.analysis.policy_figures import PolicyFigures
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.citations.figures import ArmCitations
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.detection.intervals import ScoreEstimate
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome, Verdict
from evaluation.robustness.breakdown import ArmBreakdown
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import RunSummary
from evaluation.verifiers.failing_words import WeakWord
from generation.completion import Citation


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """A group of named settings in order, e.g. ("Generation", (("temperature", "0.7"), ...))."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything needed to repeat the run.

    title: display name.
    created: time at which it finished, ISO 8601.
    command: command line that repeats the run.
    searched_collection: name or generation hash of the collection that was searched for answers; None without one.
    reference_collection: name or generation hash of the collection that judges answers; None without one, for example
        with reference answers.
    sections: versions, fingerprints, seeds, sampling, retrieval, hashes.
    """

    title: str
    created: str
    command: str
    searched_collection: str | None
    reference_collection: str | None
    sections: tuple[ConfigSection, ...] = ()

    @property
    def same_collection(self) -> bool:
        """Whether the evidence comes from the searched collection."""
        return self.searched_collection is not None and self.searched_collection == self.reference_collection


@dataclass(frozen=True, slots=True)
class ReportChunk:
    """A chunk as shown to the model.

    number: n of ``[n]`` in citations. start, end: offsets in characters of the document.
    """

    number: int
    document_id: str
    title: str
    start: int
    end: int
    text: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ReportSample:
    """One answer.

    sample: number of the sample, from 0.
    seed: seed of the sample; None if another system drew it.
    reason: why it is unscored, else "".
    weak: words without which the evidence would support its claims more.
    label: the human label; "" without one.
    observed: events observed by the arm, as text.
    """

    sample: int
    text: str
    outcome: Outcome
    seed: int | None
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()
    citations: tuple[Citation, ...] = ()
    weak: tuple[WeakWord, ...] = ()
    label: Literal["", "hallucinated", "supported"] = ""
    observed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportArm:
    """Answers of one arm to one question.

    chunks: chunks in the prompt, which are equal for all samples.
    question_text: the arm's text for the question; "" if it is the original.
    """

    arm: str
    samples: tuple[ReportSample, ...]
    chunks: tuple[ReportChunk, ...] = ()
    question_text: str = ""


@dataclass(frozen=True, slots=True)
class ReportQuestion:
    """A question with its references and answers by arm.

    by_entailment: whether its answers were judged by trusted documents.
    excluded: whether the answers of each arm were judged by the chunks shown. Such a question is excluded from
        differences.
    """

    id: str
    text: str
    kind: str
    answerable: bool
    references: tuple[str, ...]
    arms: tuple[ReportArm, ...]
    by_entailment: bool = False
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Hallucinated shares of all responses at a threshold.

    own: whether it is the run's threshold. rates: one share per arm.
    """

    threshold: float
    own: bool
    rates: tuple[HallucinationEstimate, ...]


@dataclass(frozen=True, slots=True)
class EntailmentFigures:
    """Rates of a run by threshold.

    judged: number of questions judged by entailment. questions: number of all questions.
    threshold: threshold of the run. arms: names of the arms, in the order of the rates.
    """

    judged: int
    questions: int
    threshold: float
    arms: tuple[str, ...]
    rows: tuple[ThresholdRow, ...]


@dataclass(frozen=True, slots=True)
class ScoredFigures:
    """Figures of answers by another system.

    measure: what the rates measure. judged_by: source of truth.
    labelled: number of answers with human labels.
    auroc, balanced_accuracy: agreement of the verifier with the labels, with intervals by question; None without
        labels.
    """

    measure: Literal["factuality", "faithfulness"]
    judged_by: Literal["contexts", "references", "references and contexts", "facts", "labels"]
    labelled: int = 0
    auroc: ScoreEstimate | None = None
    balanced_accuracy: ScoreEstimate | None = None


@dataclass(frozen=True, slots=True)
class ReportData:
    """Data of the report of a finished or interrupted run.

    notes: further information for readers, one sentence each.
    entailment: rates by threshold; None if no question was judged by entailment.
    scored: figures of answers by another system; None for a run.
    comparison: description of the comparison of two runs; "" for one run.
    corrected: figures corrected by labels; None without labels.
    analysis: further analyses of a run; None for other answers.
    abstentions: right and wrong abstentions by arm.
    citations: precision and recall of citations; empty if not computed.
    breakdown: rates by kind, retrieval and document, and pass^k, by arm.
    policies: figures of policies; None without arms with policies.

    Raises EvaluationError if two questions have the same ID.
    """

    config: RunConfig
    summary: RunSummary
    questions: tuple[ReportQuestion, ...]
    notes: tuple[str, ...] = ()
    entailment: EntailmentFigures | None = None
    scored: ScoredFigures | None = None
    comparison: str = ""
    corrected: CorrectedFigures | None = None
    analysis: RunAnalysis | None = None
    abstentions: tuple[Abstentions, ...] = ()
    citations: tuple[ArmCitations, ...] = ()
    breakdown: tuple[ArmBreakdown, ...] = ()
    policies: PolicyFigures | None = None

    def __post_init__(self) -> None:
        ids = [q.id for q in self.questions]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise EvaluationError(f"question {twice!r} appears twice in the report: give each question once")


def left_out_note(questions: int) -> str:
    """Return a note on the number of questions that are excluded from differences."""
    one, several = ("question has", "Its", "It counts"), ("questions have", "Their", "They count")
    have, their, they = one if questions == 1 else several
    return (
        f"{questions} {have} neither reference answers nor an answer in the documents. {their} answers were judged by "
        "the chunks in their prompts (faithfulness), and are unscored without chunks. "
        f"{they} in each arm's own rates, but not in differences between arms."
    )
