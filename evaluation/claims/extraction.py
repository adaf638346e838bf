"""Extraction of a single claim from a short completion. The claim is read together with its question.

For longer completions and verifiers that judge by sentence, see evaluation.claims.sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.claims.fillers import is_filler
from evaluation.declining.echoes import text_before_repeat
from evaluation.declining.refusals import is_refusal
from evaluation.language.citation_marks import MARK
from evaluation.outcomes import Claim
from generation.causal.answer_part import answer_part
from retrieval.chunking.sentences import Span, sentence_spans

CUT_OFF = "the completion ends while the model was still thinking: there is no answer yet"


@dataclass(frozen=True, slots=True)
class Extraction:
    """Result of claim extraction.

    claims: claims in order; empty for a refusal or an empty text. refused: whether the text declines to answer. reason:
    why there is no claim, if known.
    """

    claims: tuple[Claim, ...]
    refused: bool
    reason: str = ""


def extract_claims(text: str, question: str = "") -> Extraction:
    """Return the claim of a completion with its offsets: ``text[claim.start:claim.end] == claim.text``.

    White space and citation marks at the ends are removed; those inside remain. Reasoning before the answer, passages
    repeated after the answer, and sentences before or after the answer that decline are not part of the claim. A text
    without letters and digits has no claim and is not a refusal.
    """
    part = answer_part(text)
    if part.cut_off:
        return Extraction((), False, CUT_OFF)
    answer = text[part.start : part.end]
    span = stated_span(answer)
    if span is None:
        return Extraction((), False)
    if is_refusal(answer[span.start : span.end], question) or _only_declines(answer[span.start : span.end]):
        return Extraction((), True)
    stated = _answering_span(answer, Span(span.start, len(text_before_repeat(answer[: span.end]))))
    start, end = part.start + stated.start, part.start + stated.end
    return Extraction((Claim(text[start:end], start, end),), False)


def _only_declines(text: str) -> bool:
    """Return whether some sentences decline and all others claim nothing ("Please refer to a dictionary.")."""
    sentences = [text[s.start : s.end] for s in sentence_spans(text)]
    declining = [is_refusal(sentence) for sentence in sentences]
    rest = [sentence for sentence, declines in zip(sentences, declining, strict=True) if not declines]
    return 0 < len(rest) < len(sentences) and all(map(is_filler, rest))


def _answering_span(text: str, span: Span) -> Span:
    """Return the span from the first to the last sentence that does not decline."""
    sentences = sentence_spans(text[span.start : span.end])
    kept = [s for s in sentences if not is_refusal(text[span.start + s.start : span.start + s.end])]
    sentence = stated_span(text[span.start : span.end])
    if kept and len(kept) < len(sentences):
        first, last = kept[0].start, kept[-1].end
        stated = stated_span(text[span.start + first : span.start + last])
        if stated is not None:
            return Span(span.start + first + stated.start, span.start + first + stated.end)
    return Span(span.start + sentence.start, span.start + sentence.end) if sentence else span


def stated_span(text: str) -> Span | None:
    """Return the span of a text without white space and citation marks at its ends; None without a letter or digit."""
    start = _after_marks(text)
    end = _before_marks(text, start)
    return Span(start, end) if any(c.isalnum() for c in text[start:end]) else None


def _after_marks(text: str) -> int:
    """Return the start of the text after leading white space and marks such as ``[1], [2]``."""
    position = 0
    while True:
        position = _skip_space(text, position)
        mark = MARK.match(text, position)
        if mark is None:
            return position
        close = mark.end()
        if close < len(text) and text[close] in ",;:.":
            close += 1
        if close < len(text) and not text[close].isspace() and text[close] not in "[【(":
            return position
        position = close


def _before_marks(text: str, start: int) -> int:
    """Return the end of the text before trailing white space and marks such as ``. [1] [2].``"""
    marks = {match.end(): match.start() for match in MARK.finditer(text, start)}
    end = len(text)
    while True:
        end = _skip_space_back(text, start, end)
        inner = end - 1 if end > start and text[end - 1] in ".!?,;。" else end
        inner = _skip_space_back(text, start, inner)
        opened = marks.get(inner)
        if opened is None:
            return end
        end = _skip_space_back(text, start, opened)
        if end > start and text[end - 1] in ".,;:。":
            end -= 1


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _skip_space_back(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
