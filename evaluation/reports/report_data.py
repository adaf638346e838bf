"""Data of a report: the run's settings, its figures, and every answer with its evidence."""

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
    created: when it finished, ISO 8601, supplied by the caller.
    command: command line that repeats the run.
    sections: versions, fingerprints, seeds, sampling, retrieval, hashes.
    searched_collection, reference_collection: names or generation hashes. They are equal if answers are judged by the
        collection that they were read from, and None if there is none (for example with reference answers).
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
class ShownChunk:
    """A chunk as shown to the model: number is n of ``[n]``; offsets in characters of the document."""

    number: int
    document_id: str
    title: str
    start: int
    end: int
    text: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class ShownSample:
    """One answer: sample counts from 0; reason says why it is unscored. weak: words that lower its support.

    seed: None if another system drew it. label: the human label, or "". observed: events observed by the arm.
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
class ShownArm:
    """Answers of one arm to one question, and the chunks that they were given (equal for all samples).

    question_text: the arm's text for the question, "" if it is the original.
    """

    arm: str
    samples: tuple[ShownSample, ...]
    chunks: tuple[ShownChunk, ...] = ()
    question_text: str = ""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question with its references and answers by arm.

    by_entailment: whether its answers were judged by trusted documents. excluded: whether the answers of each arm were
    judged by the chunks shown, so that the question is excluded from differences.
    """

    id: str
    text: str
    kind: str
    answerable: bool
    references: tuple[str, ...]
    arms: tuple[ShownArm, ...]
    by_entailment: bool = False
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Hallucinated shares of all responses, one per arm, at this threshold. own: whether it is the run's threshold."""

    threshold: float
    own: bool
    rates: tuple[HallucinationEstimate, ...]


@dataclass(frozen=True, slots=True)
class EntailmentFigures:
    """Rates by threshold of a run in which ``judged`` of ``questions`` were judged by entailment.

    arms: in the order of the rates.
    """

    judged: int
    questions: int
    threshold: float
    arms: tuple[str, ...]
    rows: tuple[ThresholdRow, ...]


@dataclass(frozen=True, slots=True)
class ScoredFigures:
    """Figures of answers by another system. measure: meaning of the rates. judged_by: the source of truth.

    labelled: number of answers with human labels; auroc, balanced_accuracy: of the verifier against them, by question.
    """

    measure: Literal["factuality", "faithfulness"]
    judged_by: Literal["contexts", "references", "references and contexts", "facts", "labels"]
    labelled: int = 0
    auroc: ScoreEstimate | None = None
    balanced_accuracy: ScoreEstimate | None = None


@dataclass(frozen=True, slots=True)
class ReportData:
    """A finished (or interrupted) run. notes: further information for readers, one sentence each.

    scored: for answers by another system, None for a run.
    comparison: description of the comparison of two runs; "" for one run.
    corrected: by labels, None without labels.
    analysis: further analyses of a run, None for other answers.
    abstentions: correct and wrong ones, by arm.
    citations: precision and recall, empty if not computed.
    breakdown: rates by kind, retrieval and document, and pass^k, by arm.
    policies: None without arms with policies.
    """

    config: RunConfig
    summary: RunSummary
    questions: tuple[ShownQuestion, ...]
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
    """Note on the number of questions that are excluded from differences."""
    one, several = ("question has", "Its", "It counts"), ("questions have", "Their", "They count")
    have, their, they = one if questions == 1 else several
    return (
        f"{questions} {have} neither reference answers nor an answer in the documents. {their} answers were judged by "
        "whether the chunks they were given support them (faithfulness), and are unscored where no chunks were given. "
        f"{they} in each arm's own rates, and in no difference between arms."
    )
