"""Rendering of evidence for a scorer: prose unchanged, records as sentences, with offsets into the original."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from evaluation.evidence.structured import as_sentences
from evaluation.evidence.structured_words import StructuredSentence
from retrieval.chunking.sentences import Span

_BREAK = "\n\n"
"""Separator between the sentences of a record. They begin in lower case, so that only a blank line ends them
reliably."""


@dataclass(frozen=True, slots=True)
class EvidenceReading:
    """Evidence as a scorer reads it.

    text: text that windows are cut from. sentences: sentences of a record in order, with offsets in the original.
    starts: offset of each sentence in ``text``. ``sentences`` and ``starts`` are empty for prose, whose text is the
    original.
    """

    text: str
    sentences: tuple[StructuredSentence, ...] = ()
    starts: tuple[int, ...] = ()

    def source_span(self, start: int, end: int) -> Span:
        """Return the span of the original for ``text[start:end]``, which must not be empty.

        For a record, it is the span of all sentences that this range touches.
        """
        if not self.sentences:
            return Span(start, end)
        first = max(bisect_right(self.starts, start) - 1, 0)
        touched = self.sentences[first : max(bisect_left(self.starts, end), first + 1)]
        return Span(min(s.start for s in touched), max(s.end for s in touched))


def read_evidence(text: str) -> EvidenceReading:
    """Render a text: JSON, key-value lines and tables become sentences (see ``as_sentences``)."""
    found = as_sentences(text)
    if found is None:
        return EvidenceReading(text)
    starts = []
    offset = 0
    for sentence in found.sentences:
        starts.append(offset)
        offset += len(sentence.text) + len(_BREAK)
    return EvidenceReading(_BREAK.join(s.text for s in found.sentences), found.sentences, tuple(starts))
