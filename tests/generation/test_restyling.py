"""Restyled completions: citations stay correct, and nothing else changes."""

from __future__ import annotations

from generation.completion import Citation, Completion, Usage
from generation.style.restyling import apply_style, without_citations


def _completion(text: str, *citations: Citation, finish: str = "stop") -> Completion:
    return Completion(text, (5, 6), (-0.1, -0.2), finish, Usage(9, 2), 3, citations)  # type: ignore[arg-type]


def test_a_short_answer_becomes_a_sentence_with_its_citation() -> None:
    """The citation is before the full stop, and its offsets are correct."""
    short = _completion("1931 [2]", Citation(2, 5, 8))
    found = apply_style(short, "When was the works founded?", "sentence")
    assert found.text == "The works was founded in 1931 [2]."
    assert found.text[found.citations[0].start : found.citations[0].end] == "[2]"
    assert (found.token_ids, found.token_logprobs, found.usage) == (short.token_ids, short.token_logprobs, short.usage)


def test_several_citations_stay_in_order() -> None:
    """They are adjacent at the end."""
    short = _completion("1931 [2][4]", Citation(2, 5, 8), Citation(4, 8, 11))
    found = apply_style(short, "When was the works founded?", "sentence")
    assert found.text == "The works was founded in 1931 [2][4]."
    assert [found.text[c.start : c.end] for c in found.citations] == ["[2]", "[4]"]


def test_what_is_left_alone() -> None:
    """This applies to the short style, refusals, sentences, and truncated answers."""
    question = "When was the works founded?"
    assert apply_style(_completion("1931"), question, "short").text == "1931"
    for text in ("The documents do not answer this.", "It was founded by Ada Thorne in 1931."):
        assert apply_style(_completion(text), question, "sentence").text == text
    assert apply_style(_completion("1931", finish="length"), question, "sentence").text == "1931"


def test_where_no_rule_fits_nothing_is_invented() -> None:
    """The result quotes the answer."""
    found = apply_style(_completion("blue [1]", Citation(1, 5, 8)), "Colour?", "sentence")
    assert found.text == 'The answer is "blue" [1].'
    assert without_citations(found) == 'The answer is "blue".'
