"""Let the model reason before it answers (chain of thought). Only its final answer is judged.

Whether the model marks its final answer is observed. If it does not, the last line with text is used.
"""

from __future__ import annotations

import re

from data.questions import Question
from evaluation.modifiers.modifier import Modifier
from evaluation.runs.records import ObservedEvent
from retrieval.chunking.sentences import Span, strip_span

MARKED = "marked a final answer"
_STEP_BY_STEP = '{text}\nReason step by step. Then give the answer alone on the last line, after "Final answer:".'
_MARK = re.compile(r"\b(?:(?:final )?answer(?:\*\*)?\s*[:=]|(?:final|the) answer is\b\s*:?)(?:\*\*)?", re.IGNORECASE)
_EMPHASIS = "*_`"


def final_answer(text: str, span: Span) -> Span | None:
    """Return the span after the last mark of a final answer, up to the end of the line; None without a mark.

    Marks are "Final answer:", "Answer:" and "the answer is". The answer may begin on the next line.
    """
    for mark in reversed(list(_MARK.finditer(text, span.start, span.end))):
        rest = strip_span(text, mark.end(), span.end)
        if rest is None:
            continue
        stop = text.find("\n", rest.start, rest.end)
        found = _bare(text, rest.start, rest.end if stop < 0 else stop)
        if found is not None:
            return found
    return None


def last_line(text: str, span: Span) -> Span:
    """Return the last line with a letter or digit; the entire span if there is none."""
    end = span.end
    for line in reversed(text[span.start : span.end].split("\n")):
        start = end - len(line)
        if any(c.isalnum() for c in line):
            return _bare(text, start, end) or Span(start, end)
        end = start - 1
    return span


def _bare(text: str, start: int, end: int) -> Span | None:
    """Return the span without white space and emphasis marks at its ends; None if nothing remains."""
    while start < end and (text[start].isspace() or text[start] in _EMPHASIS):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in _EMPHASIS):
        end -= 1
    return Span(start, end) if start < end else None


class ChainOfThought(Modifier):
    """A modifier that asks for reasoning and a marked final answer."""

    name = "chain_of_thought"
    settings = "reasoning=1"

    def question_text(self, question: Question, text: str) -> str:
        """Return the question with the request for reasoning."""
        return _STEP_BY_STEP.format(text=text)

    def answer_span(self, text: str, span: Span) -> Span:
        """Return the span of the final answer, or of the last line."""
        return final_answer(text, span) or last_line(text, span)

    def observe(self, question: Question, completion: str, answer: str) -> ObservedEvent:
        """Return the event whether the completion marks its final answer."""
        return ObservedEvent(MARKED, final_answer(completion, Span(0, len(completion))) is not None)
