"""What a report shows: the run's settings, its numbers, and every answer with what it was judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.analysis.abstentions import Abstentions
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.citations.figures import ArmCitations
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.detection.intervals import ScoreEstimate
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome, Verdict
from evaluation.robustness.breakdown import ArmBreakdown
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.summary import RunSummary
from evaluation.verifiers.failing_words import WeakWord
from generation.completion import Citation


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """A group of named settings, e.g. ("Generation", (("temperature", "0.7"), ...)). Order is kept."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything needed to repeat the run.

    title: for people. created: when it finished, ISO 8601, given by the caller. command: the command line that repeats
    it. sections: versions, fingerprints, seeds, sampling, retrieval, hashes. searched_collection and
    reference_collection: names or generation hashes; equal when answers are judged against the collection they were
    read from, None when there is none (e.g. reference answers of the question set).
    """

    title: str
    created: str
    command: str
    searched_collection: str | None
    reference_collection: str | None
    sections: tuple[ConfigSection, ...] = ()

    @property
    def same_collection(self) -> bool:
        """Whether evidence comes from the very collection that is searched."""
        return self.searched_collection is not None and self.searched_collection == self.reference_collection


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A chunk as the model was given it: number is n of ``[n]``; offsets in characters of the document."""

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

    seed: None where another system drew it. label: what people call it, "" where nobody did. observed: what its arm
    looked for and found.
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
    """One arm's answers to one question, and the chunks they were given (the same for all samples).

    asked: the words that the arm put in the question's place, "" where they are its own.
    """

    arm: str
    samples: tuple[ShownSample, ...]
    chunks: tuple[ShownChunk, ...] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question with its references, by arm. by_entailment: whether its answers were judged by trusted documents.
    apart: whether each arm's were judged by what it was shown, so that it is part of no difference."""

    id: str
    text: str
    kind: str
    answerable: bool
    references: tuple[str, ...]
    arms: tuple[ShownArm, ...]
    by_entailment: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Hallucinated shares of all responses, one per arm, had the threshold been this one. own: whether it was."""

    threshold: float
    own: bool
    rates: tuple[HallucinationEstimate, ...]


@dataclass(frozen=True, slots=True)
class EntailmentFigures:
    """Of a run in which ``judged`` of ``questions`` were judged by entailment. arms: in the order of the rates."""

    judged: int
    questions: int
    threshold: float
    arms: tuple[str, ...]
    rows: tuple[ThresholdRow, ...]


@dataclass(frozen=True, slots=True)
class ScoredFigures:
    """Of answers that another system gave. measure: what the rates are rates of. judged_by: what counts as truth.

    labelled: answers that people judged; auroc, balanced_accuracy: how well the verifier meets them, by question.
    """

    measure: Literal["factuality", "faithfulness"]
    judged_by: Literal["contexts", "references", "references and contexts", "facts", "labels"]
    labelled: int = 0
    auroc: ScoreEstimate | None = None
    balanced_accuracy: ScoreEstimate | None = None


@dataclass(frozen=True, slots=True)
class ReportData:
    """A finished (or interrupted) run. notes: anything else that readers must know, one sentence each.

    scored: of answers from elsewhere, None for a run. comparison: of two runs, in words; "" for one run. corrected: by
    labels, None where nobody labelled anything. analysis: what else a run says, None for other answers. abstentions:
    right and wrong ones, by arm. citations: precision and recall, empty where nobody asked. breakdown: rates by kind,
    retrieval and document, and pass^k, by arm.
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

    def __post_init__(self) -> None:
        ids = [q.id for q in self.questions]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise EvaluationError(f"question {twice!r} appears twice in the report: give each question once")


def left_out_note(questions: int) -> str:
    """Why so many questions are in no difference, for people."""
    one, several = ("question has", "Its", "It counts"), ("questions have", "Their", "They count")
    have, their, they = one if questions == 1 else several
    return (
        f"{questions} {have} neither reference answers nor an answer in the documents. {their} answers were judged by "
        "whether the chunks they were given support them (faithfulness), and are unscored where no chunks were given. "
        f"{they} in each arm's own rates, and in no difference between arms."
    )
