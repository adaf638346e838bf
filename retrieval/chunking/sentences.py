"""Split text into sentences with exact character offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from syntok import segmenter
from syntok.tokenizer import Tokenizer

from retrieval.chunking.scripts import special_sentence_starts

# A blank line, with or without spaces in it. No two parts of the pattern can match the same character, so it is linear.
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_WINDOW = 1_000_000
_LONGEST_WORD = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """The part ``text[start:end]`` of a text, in characters. Never empty."""

    start: int
    end: int


def strip_span(text: str, start: int, end: int) -> Span | None:
    """Return the span without surrounding white space (as ``str.strip`` defines it), or None if it is empty."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left == len(piece):
        return None
    return Span(start + left, start + len(piece.rstrip()))


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` in order: non-overlapping, stripped, and covering every non-space character.

    Only the sentence starts come from the segmenter, syntok, and a sentence extends to the next start, so that no text
    can be lost or changed. A blank line always ends a sentence. So do the marks of other writing systems, which syntok
    does not know (``special_sentence_starts``). Time is linear in the length of the text, about 1.5 microseconds per
    character.
    """
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        inner = _starts_within(text, start, end)
        if special := special_sentence_starts(text[start:end]):
            inner = sorted({*inner, *(start + offset for offset in special)})
        starts = [start, *inner, end]
        for left, right in pairwise(starts):
            span = strip_span(text, left, right)
            if span is not None:
                spans.append(span)
    return tuple(spans)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _PARAGRAPH_BREAK.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _starts_within(text: str, start: int, end: int) -> list[int]:
    """Return the offsets at which the second and later sentences of a paragraph start.

    A paragraph longer than _WINDOW is processed in overlapping windows, because syntok needs about 300 bytes for each
    word. A window starts at one of the last sentences of the previous window.
    """
    starts: list[int] = []
    while end - start > _WINDOW:
        cut = _last_space(text, start, start + _WINDOW)
        # The last start is ignored, because the segmenter has not seen enough text after it ("Dr." at the end looks
        # like a sentence).
        inner = _inner_starts(text[start:cut], start)[:-1]
        # A window without a sentence boundary is treated as one sentence. It is split later, as it exceeds a chunk.
        start = inner[-1] if inner else cut
        starts += inner or [cut]
    return starts + _inner_starts(text[start:end], start)


def _last_space(text: str, start: int, end: int) -> int:
    """Return the offset after the last white space before ``end``, or ``end`` if there is none nearby."""
    for at in range(end, max(start, end - _LONGEST_WORD), -1):
        if text[at - 1].isspace():
            return at
    return end


def _inner_starts(paragraph: str, offset: int) -> list[int]:
    """Return the offsets at which the second and later sentences of the paragraph start."""
    # The paragraph is passed with offset 0. syntok pads the text with as many spaces as the offset, which would make
    # the time quadratic in the number of paragraphs.
    tokens = Tokenizer(replace_not_contraction=False).tokenize(paragraph)
    starts: list[int] = []
    previous = 0
    for index, sentence in enumerate(segmenter.segment(tokens)):
        first = int(sentence[0].offset)
        if index > 0 and previous < first < len(paragraph):
            starts.append(offset + first)
            previous = first
    return starts
