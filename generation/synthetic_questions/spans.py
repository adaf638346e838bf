"""Answer spans in a sentence, as positions of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "date",
    "number",
    "measure",
    "person",
    "place",
    "group",
    "name",
    "phrase",
    "long",
    "listed",
    "adjective",
    "reason",
    "purpose",
    "manner",
)


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer in a sentence: tokens ``start:end``.

    left, right: start and end of the noun phrase around the answer, including its determiner. kind: one of KINDS.
    """

    start: int
    end: int
    left: int
    right: int
    kind: str
    ask: str = ""
    """The noun that a question uses for the answer ("university" for "University of Oxford"); "" for none."""
