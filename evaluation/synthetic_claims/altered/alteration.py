"""Result of altering an answer's evidence, and value swaps that keep track of marked spans."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from data.pairs import PairExample

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Alteration:
    """An alteration of evidence.

    evidence: altered text. claims: for each claim of the answer, (start, end) of the words that are wrong now. Empty if
    the evidence still supports or contradicts the claim as before. None if the claim is unsupported now and the wrong
    words are unknown.
    """

    evidence: str
    claims: tuple[Spans | None, ...]

    @property
    def affects_claims(self) -> bool:
        """Whether any claim is affected."""
        return any(spans is None or spans for spans in self.claims)


@dataclass(frozen=True, slots=True)
class ValueSwap:
    """A mapping from values to their replacements, as complete words. A value may have several words."""

    values: Mapping[str, str]

    def spans_in(self, text: str) -> Spans:
        """Return (start, end) of every value in the text."""
        return tuple(match.span() for match in self._pattern().finditer(text))

    def applied(self, text: str) -> str:
        """Replace every value in one pass, so that two values can be exchanged."""
        return self._pattern().sub(lambda match: self.values[match.group()], text)

    def moved(self, text: str, spans: Spans) -> Spans:
        """Map spans of the text to spans of ``applied(text)``. A span that ends within a value includes all of it."""
        edges = [(match.start(), match.end(), self.values[match.group()]) for match in self._pattern().finditer(text)]

        def moved_offset(offset: int, *, end: bool) -> int:
            shift = 0
            for start, stop, new in edges:
                if stop <= offset:
                    shift += len(new) - (stop - start)
                elif start < offset:
                    return start + shift + (len(new) if end else 0)
            return offset + shift

        return tuple((moved_offset(start, end=False), moved_offset(end, end=True)) for start, end in spans)

    def _pattern(self) -> re.Pattern[str]:
        longest = sorted(self.values, key=lambda value: (-len(value), value))
        return re.compile("|".join(standalone_pattern(value) for value in longest))


def standalone_pattern(value: str) -> str:
    """Return a pattern for a value as complete words: not part of a word, a larger number, a time or a date."""
    if value[-1].isdigit() or value[0].isdigit():
        return rf"(?<![\w.,:/$£€-]){re.escape(value)}(?![\w%/:-]|[.,]\d)"
    return rf"(?<![\w-]){re.escape(value)}(?![\w-])"


def alter_claim(example: PairExample, evidence: str, wrong: Spans | None) -> PairExample:
    """Return the claim with the altered evidence and these additional wrong words (see ``Alteration``)."""
    if wrong == ():
        return replace(example, evidence=evidence)
    if wrong is None or (not example.supported and example.wrong is None):
        return replace(example, evidence=evidence, supported=False, wrong=None)
    known = () if example.supported else example.wrong or ()
    return replace(example, evidence=evidence, supported=False, wrong=tuple(sorted({*known, *wrong})))


def exchange_in_claim(example: PairExample, evidence: str, exchange: ValueSwap) -> PairExample:
    """Return the claim with the same values exchanged as in its evidence, so that its truth is unchanged."""
    return replace(
        example,
        evidence=evidence,
        claim=exchange.applied(example.claim),
        question=exchange.applied(example.question),
        wrong=None if example.wrong is None else exchange.moved(example.claim, example.wrong),
    )
