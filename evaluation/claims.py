"""From a completion's text to the claims it makes. For now an answer is one claim, read together with its question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluation.outcomes import Claim
from evaluation.refusals import is_refusal

_HEAD = re.compile(r"^(?:\s|\[\d+\][,;:.]?(?=\s|$|\[))+")
_TAIL = re.compile(r"(?:\s|[.,;:]?\s*\[\d+\]\s*[.!?,;]?)+$")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a completion says. claims: empty when it refuses or says nothing. refused: whether it declines to answer."""

    claims: tuple[Claim, ...]
    refused: bool


def extract_claims(text: str) -> Extraction:
    """The claims of a completion's text, with offsets into it: ``text[claim.start:claim.end] == claim.text``.

    White space and citation markers ``[n]`` are taken off the ends; what stands between them is left alone. An empty
    text, and one of markers or punctuation only, makes no claim and does not refuse.
    """
    head = _HEAD.match(text)
    start = head.end() if head else 0
    tail = _TAIL.search(text, start)
    end = tail.start() if tail else len(text)
    body = text[start:end]
    if not any(c.isalnum() for c in body):
        return Extraction((), False)
    if is_refusal(body):
        return Extraction((), True)
    return Extraction((Claim(body, start, end),), False)
