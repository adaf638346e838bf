"""Locate the answer in the completion of a reasoning model."""

from __future__ import annotations

from dataclasses import dataclass

from generation.decoding.thoughts import split_thought, thought_spans


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The answer in a completion: ``text[start:end]``. cut_off: whether the completion has reasoning but no answer."""

    start: int
    end: int
    cut_off: bool = False


def answer_part(text: str) -> AnswerPart:
    """Return the part of the text that is the answer; the entire text if there is no reasoning.

    If reasoning splits the answer into several pieces, the last piece is returned.
    """
    parts = split_thought(text)
    if not parts.thought and parts.answer == text:
        return AnswerPart(0, len(text))
    if not parts.answer:
        return AnswerPart(len(text), len(text), cut_off=bool(parts.thought))
    index = text.rfind(parts.answer)
    if index >= 0:
        return AnswerPart(index, index + len(parts.answer))
    last, pieces = 0, []
    for start, end in (*thought_spans(text), (len(text), len(text))):
        if text[last:start].strip():
            pieces.append(AnswerPart(last, start))
        last = end
    return pieces[-1] if pieces else AnswerPart(0, len(text))
