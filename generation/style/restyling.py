"""Rewrite a completion's short answer as a full sentence with its citations."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from generation.completion import Citation, Completion
from generation.style.answer_style import as_sentence

Style = Literal["short", "sentence"]


def apply_style(completion: Completion, question: str, style: Style) -> Completion:
    """Return the completion with its text as a full sentence if ``style`` is "sentence", unchanged if it is "short".

    Citations are placed before the full stop, in their order. Sentences, refusals and answers that did not end with
    "stop" are unchanged. Tokens and log-probabilities remain those of the short answer, which was generated.
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
    """Return the completion's text without citations and the spaces before them."""
    text = completion.text
    for citation in sorted(completion.citations, key=lambda c: -c.start):
        text = text[: citation.start].rstrip() + text[citation.end :]
    return text.strip()
