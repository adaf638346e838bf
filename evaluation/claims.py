"""From a completion's text to the claim it makes: a short answer is one claim, read together with its question.

(Longer completions, and verifiers that judge sentence by sentence: evaluation.sentence_claims.)
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.outcomes import Claim
from evaluation.refusals import is_refusal
from retrieval.sentences import Span

_LONGEST_MARKER = 12  # characters, brackets included


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a completion says. claims: empty when it refuses or says nothing. refused: whether it declines to answer."""

    claims: tuple[Claim, ...]
    refused: bool


def extract_claims(text: str) -> Extraction:
    """The claims of a completion's text, with offsets into it: ``text[claim.start:claim.end] == claim.text``.

    White space and citation markers ``[n]`` are taken off the ends; what stands between them is left alone. An empty
    text, and one of markers or punctuation only, makes no claim and does not refuse.
    """
    span = stated_span(text)
    if span is None:
        return Extraction((), False)
    body = text[span.start : span.end]
    if is_refusal(body):
        return Extraction((), True)
    return Extraction((Claim(body, span.start, span.end),), False)


def stated_span(text: str) -> Span | None:
    """What a text says, without white space and citation markers at its ends; None when no letter or digit is left."""
    start = _after_markers(text)
    end = _before_markers(text, start)
    return Span(start, end) if any(c.isalnum() for c in text[start:end]) else None


# Written as loops: as regular expressions both ends took cubic time on an answer of blanks.


def _after_markers(text: str) -> int:
    """Where the text begins behind leading white space and markers such as ``[1], [2]``."""
    place = 0
    while True:
        place = _skip_space(text, place)
        close = _marker_end(text, place)
        if close is None:
            return place
        if close < len(text) and text[close] in ",;:.":
            close += 1
        if close < len(text) and not text[close].isspace() and text[close] != "[":
            return place
        place = close


def _before_markers(text: str, start: int) -> int:
    """Where the text ends before trailing white space and markers such as ``. [1] [2].``"""
    end = len(text)
    while True:
        end = _skip_space_back(text, start, end)
        inner = end - 1 if end > start and text[end - 1] in ".!?,;" else end
        inner = _skip_space_back(text, start, inner)
        opened = _marker_start(text, start, inner)
        if opened is None:
            return end
        end = _skip_space_back(text, start, opened)
        if end > start and text[end - 1] in ".,;:":
            end -= 1


def _skip_space(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _skip_space_back(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _marker_end(text: str, place: int) -> int | None:
    """The offset after a marker ``[n]`` that begins at ``place``, None if there is none."""
    if place >= len(text) or text[place] != "[":
        return None
    close = text.find("]", place, place + _LONGEST_MARKER)
    return close + 1 if text[place + 1 : max(close, 0)].isdecimal() else None


def _marker_start(text: str, start: int, end: int) -> int | None:
    """The offset of a marker ``[n]`` that ends at ``end``, None if there is none."""
    if end <= start or text[end - 1] != "]":
        return None
    opened = text.rfind("[", max(start, end - _LONGEST_MARKER), end)
    return opened if opened >= 0 and text[opened + 1 : end - 1].isdecimal() else None
