"""The result of scoring answers of other systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.judging.answer_judge import Kind, Measure
from app.runs.rates_line import rates_html, rates_line
from data.answer_records import AnswerRecord
from data.answers import AnswerFile
from evaluation.analysis.abstentions import Abstentions
from evaluation.detection.scores import DetectionTable
from evaluation.exports.responses import JudgedResponse, valid_ids
from evaluation.exports.tables import data_frame
from evaluation.outcomes import AnswerEvaluation, Verdict
from evaluation.statistics.run_summary import RunSummary
from evaluation.verifiers.entailment import OTHER_LANGUAGE
from evaluation.verifiers.failing_words import WeakWord

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer with its evaluation.

    group: name of its group, the cluster of the intervals. sample: number within arm and group, from 0. support:
    support of its worst claim; 1 if the answer declines, None if it is unscored. key: hash of everything that
    determines its verdict. weak: words that lowered its support.
    """

    record: AnswerRecord
    group: str
    sample: int
    evaluation: AnswerEvaluation
    support: float | None
    key: str
    weak: tuple[WeakWord, ...] = ()

    @property
    def unsupported(self) -> tuple[Verdict, ...]:
        """Verdicts on unsupported claims."""
        return tuple(v for v in self.evaluation.verdicts if v.label in ("contradicted", "unverifiable"))


@dataclass(frozen=True, slots=True, repr=False)
class ScoreResult:
    """The result of scoring answers.

    answers: the scored answers, in the order of the file. summary: rates and paired differences. measure: what the
    rates measure. kind: kind of evidence. verifier: name of the verifier. threshold: minimum support of a supported
    claim; None if it does not apply. detection: quality of the verifier against the labels; None without labels. notes:
    remarks for the reader. failed: number of answers on which the verifier failed. abstentions: right and wrong
    abstentions of each arm.
    """

    answers: tuple[ScoredAnswer, ...]
    summary: RunSummary
    file: AnswerFile
    measure: Measure
    kind: Kind
    verifier: str
    threshold: float | None
    detection: DetectionTable | None
    notes: tuple[str, ...]
    failed: int = 0
    abstentions: tuple[Abstentions, ...] = ()

    def responses(self, created: int = 0) -> Iterator[JudgedResponse]:
        """Yield every answer, in order, for exports. created: Unix time in nanoseconds."""
        for answer in self.answers:
            record = answer.record
            trace_id, span_id = valid_ids(record.trace_id, record.span_id)
            yield JudgedResponse(
                run="",
                question_id=record.id,
                question=record.question,
                answer=record.answer,
                arm=record.arm,
                sample=answer.sample,
                evaluation=answer.evaluation,
                created=created,
                kind=record.kind,
                answerable=record.answerable,
                references=record.references,
                contexts=record.contexts,
                verifier=self.verifier,
                origin=answer.key,
                trace_id=trace_id,
                span_id=span_id,
            )

    def to_pandas(self) -> pd.DataFrame:
        """Return the answers as rows: question, arm, answer, outcome, support, contexts and more (docs/score.md).

        Raises EvaluationError if pandas is not installed.
        """
        return data_frame(self.responses())

    def __repr__(self) -> str:
        return f"ScoreResult({len(self.answers)} answers, {self.measure}, {rates_line(self.summary)})"

    def _repr_html_(self) -> str:
        """Return the rates of the systems as HTML for a notebook."""
        return rates_html(f"{len(self.answers)} answers, {self.measure} by {self.kind}", self.summary)

    @property
    def unscored(self) -> int:
        """Number of answers without an outcome."""
        return sum(a.evaluation.outcome == "unscored" for a in self.answers)

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Reasons for unscored answers with their counts, most common first."""
        found = Counter(a.evaluation.reason for a in self.answers if a.evaluation.outcome == "unscored")
        return tuple(found.most_common())

    @property
    def languages(self) -> tuple[tuple[str, int], ...]:
        """Languages of answers that the verifier does not support, with their counts, most common first."""
        ending = f": {OTHER_LANGUAGE}"
        found = Counter(r.removesuffix(ending) for a in self.answers if (r := a.evaluation.reason).endswith(ending))
        return tuple(found.most_common())
