"""Compute the rates of an arm by kind of question, by document, and by the result of retrieval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from data.questions import Question
from evaluation.analysis.retrieval_part import gold_rank
from evaluation.outcomes import Outcome
from evaluation.robustness.repeated import PassRate, pass_rates
from evaluation.runs.records import SampleRecord
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler, measure_ratio

Cause = Literal["shown", "not_retrieved", "not_in_collection", "no_gold"]
CAUSES: Final[Mapping[str, str]] = {
    "shown": "the gold passage was shown",
    "not_retrieved": "the gold passage was not retrieved",
    "not_in_collection": "the documents do not answer it",
    "no_gold": "the question names no gold passage",
}
_DOCUMENTS: Final = 10


@dataclass(frozen=True, slots=True)
class Row:
    """Rates of a group of questions.

    name: name of a kind, document or cause. hallucinated, supported: shares of all responses to these questions.
    """

    name: str
    questions: int
    responses: int
    hallucinated: HallucinationEstimate
    supported: HallucinationEstimate


@dataclass(frozen=True, slots=True)
class ArmBreakdown:
    """Breakdown of an arm's rates.

    kinds: rates by kind of question; empty if all questions have the same kind.
    causes: rates by the result of retrieval; empty if the arm shows no chunks.
    documents: rates of the gold documents with the most hallucinated responses, at most ten.
    passes: pass^k; empty for one sample per question.
    """

    arm: str
    kinds: tuple[Row, ...]
    causes: tuple[Row, ...]
    documents: tuple[Row, ...]
    passes: tuple[PassRate, ...]

    @property
    def any_rows(self) -> bool:
        """Whether there is any row."""
        return bool(self.kinds or self.causes or self.documents or self.passes)


def arm_breakdown(
    arm: str, records: Sequence[SampleRecord], questions: Mapping[str, Question], resampler: Resampler
) -> ArmBreakdown:
    """Break down the rates of one arm.

    records: samples of the arm by one decoding.
    questions: questions by ID.
    """
    shown_something = any(record.chunks for record in records)
    kinds = _rows(
        records, lambda r: [questions[r.question_id].kind] if questions[r.question_id].kind else [], resampler
    )
    causes = _rows(records, lambda r: [cause_of(r, questions[r.question_id])], resampler) if shown_something else ()
    documents = _rows(records, lambda r: list(dict.fromkeys(_documents(questions[r.question_id]))), resampler)
    worst = sorted(documents, key=lambda row: (-(row.hallucinated.rate or 0) * row.responses, row.name))
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for record in records:
        outcomes[record.question_id].append(record.evaluation.outcome)
    passes = pass_rates(outcomes, paraphrase_clusters(questions.values()), resampler)
    return ArmBreakdown(
        arm,
        kinds if len(kinds) > 1 else (),
        tuple(replace(row, name=CAUSES[row.name]) for row in causes if row.name in CAUSES),
        tuple(row for row in worst if row.hallucinated.rate)[:_DOCUMENTS],
        passes if len(passes) > 1 else (),
    )


def cause_of(record: SampleRecord, question: Question) -> Cause:
    """Return the result of retrieval for a response."""
    if not question.answerable:
        return "not_in_collection"
    if not question.evidence and not question.relevant_document_ids:
        return "no_gold"
    return "shown" if gold_rank(question, record.chunks) is not None else "not_retrieved"


def paraphrase_clusters(questions: Iterable[Question]) -> dict[str, str]:
    """Return the cluster ID of each question. Questions with the same evidence are paraphrases and form a cluster."""
    found: dict[str, str] = {}
    first: dict[object, str] = {}
    for question in questions:
        key: object = question.evidence or question.id
        found[question.id] = first.setdefault(key, question.id)
    return found


def _documents(question: Question) -> Sequence[str]:
    return question.relevant_document_ids or [span.document_id for span in question.evidence]


def _rows(
    records: Sequence[SampleRecord], names: Callable[[SampleRecord], Sequence[str]], resampler: Resampler
) -> tuple[Row, ...]:
    grouped: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for name in names(record):
            grouped[name][record.question_id].append(record.evaluation.outcome)
    return tuple(_row(name, by_question, resampler) for name, by_question in grouped.items())


def _row(name: str, by_question: Mapping[str, Sequence[Outcome]], resampler: Resampler) -> Row:
    ones = np.ones(len(by_question))
    responses = sum(len(question_outcomes) for question_outcomes in by_question.values())

    def share(outcome: Outcome) -> HallucinationEstimate:
        h = np.array(
            [
                sum(o == outcome for o in question_outcomes) / len(question_outcomes)
                for question_outcomes in by_question.values()
            ]
        )
        return measure_ratio(h, ones, responses, resampler, event=f"a response that is {outcome}").default

    return Row(name, len(by_question), responses, share("hallucinated"), share("supported"))
