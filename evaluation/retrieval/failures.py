"""Find the questions with the worst retrieval, and the documents found instead of the relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.rankings import Run
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class Failure:
    """A question with poor retrieval.

    value: value of the measure.
    relevant: number of relevant documents.
    first_relevant: rank of the best relevant document; None if none was found.
    found_first: ID of the document at rank 1; None if nothing was found.
    """

    question: Question
    value: float
    relevant: int
    first_relevant: int | None
    found_first: str | None


def worst_questions(
    questions: Sequence[Question], values: Floats, run: Run, judgements: Judgements, count: int
) -> tuple[Failure, ...]:
    """Return the ``count`` questions with the lowest values below 1, worst first. Ties are in file order.

    values: (Q,), value of the measure for each question.
    """
    order = sorted(range(len(questions)), key=lambda i: (values[i], i))
    failures = []
    for i in order[:count]:
        if values[i] >= 1.0:
            break
        question = questions[i]
        ranking = run.get(question.id, ())
        relevant = judgements.relevant(question.id)
        ranks = (rank for rank, item in enumerate(ranking, start=1) if item.document_id in relevant)
        failures.append(
            Failure(
                question,
                float(values[i]),
                len(relevant),
                next(ranks, None),
                ranking[0].document_id if ranking else None,
            )
        )
    return tuple(failures)
