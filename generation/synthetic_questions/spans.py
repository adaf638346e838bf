"""Answer spans in a sentence, with their kind. Offsets are token positions."""

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
    """Tokens ``start:end`` are the answer; ``left:right`` is the noun phrase around it, with determiner."""

    start: int
    end: int
    left: int
    right: int
    kind: str
    ask: str = ""
    """A noun to ask with ("university" for a name that ends in University), or empty."""
