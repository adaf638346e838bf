"""Add citations ``[n]`` to a copied answer, or find them in a model's text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generation.completion import Citation
from generation.surface.surface import Surface

# ASCII digits without leading zeros, because text[start:end] must equal f"[{number}]".
_MARKER = re.compile(r"\[([1-9][0-9]{0,2})\]")
_MIN_SHARE_OF_COPIED = 0.25


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text and its citations, in order of position."""

    text: str
    citations: tuple[Citation, ...]


def find_citations(text: str, chunks: int) -> tuple[Citation, ...]:
    """Return the citations ``[n]`` in the text with 1 <= n <= chunks. Other bracketed numbers are plain text."""
    return tuple(
        Citation(int(match[1]), match.start(), match.end())
        for match in _MARKER.finditer(text)
        if 1 <= int(match[1]) <= chunks
    )


def cite_copied(surface: Surface) -> CitedText:
    """Append ``[n]`` for each chunk that contributed at least a quarter of the copied text, in order of first use.

    Text copied from the question or generated from the vocabulary cites nothing.
    """
    shares: dict[int, float] = {}
    for span in surface.spans:
        if span.part:
            number = abs(span.part)  # a title belongs to its chunk
            shares[number] = shares.get(number, 0.0) + span.share
    total = sum(shares.values())
    text, citations = surface.text, []
    for number, share in shares.items():
        if text and total > 0 and share >= _MIN_SHARE_OF_COPIED * total:
            text += " "
            citations.append(Citation(number, len(text), len(text) + len(f"[{number}]")))
            text += f"[{number}]"
    return CitedText(text, tuple(citations))
