"""What altering the evidence of an answer comes to; values exchanged in a text, and where its marked words are then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from data.pairs import PairExample

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Alteration:
    """evidence: the new one. claims: of each claim of the answer (start, end) of the words that are wrong now; empty
    where it says the same of both; None where it is unsupported now and nobody knows by which words.
    """

    evidence: str
    claims: tuple[Spans | None, ...]

    @property
    def tells(self) -> bool:
        """Whether any claim is touched."""
        return any(spans is None or spans for spans in self.claims)


@dataclass(frozen=True, slots=True)
class ValueSwap:
    """Values and what stands for each of them afterwards, as whole words; both may be several words."""

    values: Mapping[str, str]

    def places(self, text: str) -> Spans:
        """(start, end) of every value in the text."""
        return tuple(match.span() for match in self._found().finditer(text))

    def applied(self, text: str) -> str:
        """The text with every value replaced, all at once: two values may be exchanged for each other."""
        return self._found().sub(lambda match: self.values[match.group()], text)

    def moved(self, text: str, spans: Spans) -> Spans:
        """Spans of the text as spans of ``applied(text)``; one that ends inside a value takes all of it."""
        edges = [(match.start(), match.end(), self.values[match.group()]) for match in self._found().finditer(text)]

        def place(at: int, *, end: bool) -> int:
            shift = 0
            for start, stop, new in edges:
                if stop <= at:
                    shift += len(new) - (stop - start)
                elif start < at:
                    return start + shift + (len(new) if end else 0)
            return at + shift

        return tuple((place(start, end=False), place(end, end=True)) for start, end in spans)

    def _found(self) -> re.Pattern[str]:
        longest = sorted(self.values, key=lambda value: (-len(value), value))
        return re.compile("|".join(whole(value) for value in longest))


def whole(value: str) -> str:
    """A pattern for the value where it stands by itself: no part of a word, a larger number, a time or a date."""
    if value[-1].isdigit() or value[0].isdigit():
        return rf"(?<![\w.,:/$£€-]){re.escape(value)}(?![\w%/:-]|[.,]\d)"
    return rf"(?<![\w-]){re.escape(value)}(?![\w-])"


def altered(example: PairExample, evidence: str, wrong: Spans | None) -> PairExample:
    """The claim read against other evidence, with these words wrong besides those that were (see ``Alteration``)."""
    if wrong == ():
        return replace(example, evidence=evidence)
    if wrong is None or (not example.supported and example.wrong is None):
        return replace(example, evidence=evidence, supported=False, wrong=None)
    known = () if example.supported else example.wrong or ()
    return replace(example, evidence=evidence, supported=False, wrong=tuple(sorted({*known, *wrong})))


def agreeing(example: PairExample, evidence: str, exchange: ValueSwap) -> PairExample:
    """The claim with the same values exchanged as in its evidence: as true as it was."""
    return replace(
        example,
        evidence=evidence,
        claim=exchange.applied(example.claim),
        question=exchange.applied(example.question),
        wrong=None if example.wrong is None else exchange.moved(example.claim, example.wrong),
    )
