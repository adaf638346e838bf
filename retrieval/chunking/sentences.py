"""Sentence boundaries with exact offsets. Knows nothing of tokens, chunks or documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from syntok import segmenter
from syntok.tokenizer import Tokenizer

from retrieval.chunking.scripts import own_starts

# A blank line, with or without spaces in it. No two parts of the pattern can match the same character, so it is linear.
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_WINDOW = 1_000_000
_LONGEST_WORD = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]``, in characters; never empty."""

    start: int
    end: int


def strip_span(text: str, start: int, end: int) -> Span | None:
    """The span without white space at either end (as ``str.strip`` sees it), or None if nothing is left."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left == len(piece):
        return None
    return Span(start + left, start + len(piece.rstrip()))


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Sentences of ``text`` in order: non-overlapping, stripped, and every non-space character lies in one.

    Only the places where syntok starts a sentence are taken from it. A sentence runs from one start to the next, so
    that nothing can be lost or rewritten, whatever the segmenter makes of the characters. A blank line always ends a
    sentence, and so do the marks of other writing systems, which syntok does not know (``own_starts``). Time is linear
    in the length of the text (about 1.5 microseconds a character).
    """
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        inner = _starts_within(text, start, end)
        if own := own_starts(text[start:end]):
            inner = sorted({*inner, *(start + offset for offset in own)})
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
    """Offsets at which the second and later sentences of a paragraph start.

    A paragraph longer than _WINDOW is gone through in windows that each begin with one of the last sentences
    of the one before, because syntok keeps some 300 bytes for each word: a line of 50 MB would need gigabytes.
    """
    starts: list[int] = []
    while end - start > _WINDOW:
        cut = _last_space(text, start, start + _WINDOW)
        # The last start is not believed: the segmenter has not seen what follows ("Dr." at the end is one).
        inner = _inner_starts(text[start:cut], start)[:-1]
        # Where no two sentences are in a whole window, it ends one; a chunk could not hold such a sentence anyway.
        start = inner[-1] if inner else cut
        starts += inner or [cut]
    return starts + _inner_starts(text[start:end], start)


def _last_space(text: str, start: int, end: int) -> int:
    """The offset behind the last white space before ``end``, or ``end`` if it is far."""
    for at in range(end, max(start, end - _LONGEST_WORD), -1):
        if text[at - 1].isspace():
            return at
    return end


def _inner_starts(paragraph: str, offset: int) -> list[int]:
    """Offsets at which the second and later sentences of the paragraph start."""
    # The paragraph is passed alone, with offset 0: syntok pads the text with as many spaces as the offset says, which
    # makes a document of many paragraphs quadratic.
    tokens = Tokenizer(replace_not_contraction=False).tokenize(paragraph)
    starts: list[int] = []
    previous = 0
    for index, sentence in enumerate(segmenter.segment(tokens)):
        first = int(sentence[0].offset)
        if index > 0 and previous < first < len(paragraph):
            starts.append(offset + first)
            previous = first
    return starts
