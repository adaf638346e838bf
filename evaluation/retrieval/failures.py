"""Questions with the worst retrieval, with the documents found instead of the relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.rankings import Run
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class Failure:
    """value: of the measure. first_relevant: rank of the best relevant document, None if none was found.

    relevant: number of relevant documents. found_first: document at rank 1, None if nothing was found.
    """

    question: Question
    value: float
    relevant: int
    first_relevant: int | None
    found_first: str | None


def worst_questions(
    questions: Sequence[Question], values: Floats, run: Run, judgements: Judgements, count: int
) -> tuple[Failure, ...]:
    """The ``count`` questions with the lowest values (Q,) below 1, worst first; ties in file order."""
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
