"""Mark the words that lower the support of claims most, in the data of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.errors import USER_ERRORS
from data.questions import Question
from evaluation.outcomes import Claim
from evaluation.reports.report_data import (
    ReportData,
    ReportQuestion,
    ReportSample,
)
from evaluation.reports.report_view import worst_first
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.failing_words import WeakWord

MARKED_CLAIMS = 40
"""Maximum number of unsupported claims whose weak words are marked, from the worst questions. This takes seconds."""


def with_marks(
    data: ReportData, marker: EntailmentVerifier, questions: Sequence[Question], most: int = MARKED_CLAIMS
) -> ReportData:
    """Return the report with weak words marked in the hallucinated answers of the worst questions.

    most: maximum number of claims. If the search or the scorer fails, only a note is added to the report.
    """
    by_id = {q.id: q for q in questions}
    marked: dict[str, ReportQuestion] = {}
    left = most
    for shown in worst_first(data):
        samples = [s for a in shown.arms for s in a.samples if s.outcome == "hallucinated"]
        claims = tuple(dict.fromkeys(v.claim for s in samples for v in s.verdicts if v.label == "unverifiable"))
        if left <= 0:
            break
        if not shown.by_entailment or not claims:
            continue
        try:
            weak = _weak_words(marker, by_id[shown.id], samples, claims)
        except USER_ERRORS as error:
            return replace(data, notes=(*data.notes, f"No words are marked in the answers: {error}."))
        left -= len({c.text for c in claims})
        arms = tuple(
            replace(
                a,
                samples=tuple(replace(s, weak=weak(s)) for s in a.samples),
            )
            for a in shown.arms
        )
        marked[shown.id] = replace(shown, arms=arms)
    return replace(data, questions=tuple(marked.get(q.id, q) for q in data.questions))


def _weak_words(
    marker: EntailmentVerifier, question: Question, samples: Sequence[ReportSample], claims: Sequence[Claim]
) -> Callable[[ReportSample], tuple[WeakWord, ...]]:
    """Return a function that returns the weak words of a sample.

    Claims are marked separately, or with the other claims of the answer if the verifier judges them together.
    """
    if not marker.together:
        found = {m.claim: m.weak for m in marker.mark(question, claims)}
        return lambda sample: tuple(word for v in sample.verdicts for word in found.get(v.claim, ()))
    in_answer: dict[tuple[Claim, ...], tuple[WeakWord, ...]] = {}
    for sample in samples:
        answer = tuple(v.claim for v in sample.verdicts)
        if answer in in_answer:
            continue
        low = [v.claim for v in sample.verdicts if v.label == "unverifiable"]
        in_answer[answer] = tuple(word for m in marker.mark(question, low, answer) for word in m.weak)
    return lambda sample: in_answer.get(tuple(v.claim for v in sample.verdicts), ())
