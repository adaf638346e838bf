"""A completion in another style: the short answer as a full sentence, its citations kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from generation.completion import Citation, Completion
from generation.style.answer_style import as_sentence

Style = Literal["short", "sentence"]


def restyled(completion: Completion, question: str, style: Style) -> Completion:
    """The completion, with its text as a full sentence for "sentence"; unchanged for "short".

    Citations stand before the full stop, in their order. What already is a sentence, a refusal or an answer cut short
    by its length stays as it is. Tokens and log-probabilities are those of the short answer: nothing else was drawn.
    """
    if style == "short" or completion.finish_reason != "stop":
        return completion
    body = without_citations(completion)
    sentence = as_sentence(question, body)
    if sentence == body:
        return completion
    end = "." if sentence.endswith(".") else ""
    text = sentence.removesuffix(".")
    citations: list[Citation] = []
    for citation in completion.citations:
        mark = f"[{citation.number}]"
        text += " " if not citations else ""
        citations.append(Citation(citation.number, len(text), len(text) + len(mark)))
        text += mark
    return replace(completion, text=text + end, citations=tuple(citations))


def without_citations(completion: Completion) -> str:
    """The text without its citation marks and the blank before each."""
    text = completion.text
    for citation in sorted(completion.citations, key=lambda c: -c.start):
        text = text[: citation.start].rstrip() + text[citation.end :]
    return text.strip()
