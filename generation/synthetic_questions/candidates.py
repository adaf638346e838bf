"""Find the answer candidates in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from generation.english.tokens import Token
from generation.synthetic_questions.figures import date_spans, number_spans
from generation.synthetic_questions.names import name_spans
from generation.synthetic_questions.phrases import clause_spans, list_spans, long_spans, noun_spans
from generation.synthetic_questions.spans import AnswerSpan


def answer_spans(tokens: Sequence[Token]) -> list[AnswerSpan]:
    """Return all answer candidates, which may overlap, ordered by kind. Time is linear in the number of words."""
    makers = (date_spans, number_spans, name_spans, noun_spans, clause_spans, long_spans, list_spans)
    return [span for maker in makers for span in maker(tokens)]
