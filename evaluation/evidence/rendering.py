"""How a stretch of evidence is read: prose as it stands, records as sentences, with the way back to the original."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from evaluation.evidence.structured import as_sentences
from evaluation.evidence.structured_words import StructuredSentence
from retrieval.chunking.sentences import Span

_BREAK = "\n\n"
"""Between the sentences of a record: they begin in lower case, and only a blank line surely ends such a sentence."""


@dataclass(frozen=True, slots=True)
class EvidenceReading:
    """text: what windows are cut from.

    sentences: of a record, in order, with their offsets in the original; starts: where each begins in ``text``. Both
    are empty for prose, whose text is the original.
    """

    text: str
    sentences: tuple[StructuredSentence, ...] = ()
    starts: tuple[int, ...] = ()

    def place(self, start: int, end: int) -> Span:
        """Where ``text[start:end]`` (not empty) comes from in the original: of a record, all its sentences there."""
        if not self.sentences:
            return Span(start, end)
        first = max(bisect_right(self.starts, start) - 1, 0)
        touched = self.sentences[first : max(bisect_left(self.starts, end), first + 1)]
        return Span(min(s.start for s in touched), max(s.end for s in touched))


def read_evidence(text: str) -> EvidenceReading:
    """The reading of a text: JSON, lines of keys and values, and tables become sentences (see ``as_sentences``)."""
    found = as_sentences(text)
    if found is None:
        return EvidenceReading(text)
    starts = []
    place = 0
    for sentence in found.sentences:
        starts.append(place)
        place += len(sentence.text) + len(_BREAK)
    return EvidenceReading(_BREAK.join(s.text for s in found.sentences), found.sentences, tuple(starts))
