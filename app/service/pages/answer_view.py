"""Split an answer and its sources into segments for highlighting: citations, unsupported claims, quoted spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_CITATION = re.compile(r"\s*\[\d+\]")
_LEAST_QUOTED = 3
"""Minimum characters of an answer that is located in a text; shorter ones occur too often."""


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Part of an answer's text. number: number of the source that it cites; None for plain text. unsupported: whether
    it is in a claim that the documents do not support.
    """

    text: str
    number: int | None = None
    unsupported: bool = False


@dataclass(frozen=True, slots=True)
class QuotedSource:
    """The text of a source in three parts: before the quoted span, the span (may be empty), and the rest."""

    before: str
    quote: str
    after: str


def pieces(
    text: str, annotations: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]] = ()
) -> tuple[TextSegment, ...]:
    """Split the text at its citations and at the ends of unsupported claims. The joined segments are the text."""
    cited = {(int(a["start"]), int(a["end"])): int(a["number"]) for a in annotations}
    bad = [(int(v["start"]), int(v["end"])) for v in verdicts if v["label"] in ("unverifiable", "contradicted")]
    cuts = sorted({0, len(text), *(place for span in (*cited, *bad) for place in span)})
    out = []
    for start, end in pairwise(cuts):
        number = next((n for (first, last), n in cited.items() if first <= start and end <= last), None)
        out.append(TextSegment(text[start:end], number, any(first <= start and end <= last for first, last in bad)))
    return tuple(piece for piece in out if piece.text)


def quoted(source: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> QuotedSource:
    """Return the source split at the span that an answer quotes: the answer's words, else the evidence of a verdict.

    The span is empty for sources that an answer with citations does not cite, even if they were evidence.
    """
    text = str(source["text"])
    span = next((s for s in (_words(text, source, a) or _evidence(text, source, a) for a in answers) if s), None)
    start, end = span or (len(text), len(text))
    return QuotedSource(text[:start], text[start:end], text[end:])


def _words(text: str, source: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[int, int] | None:
    if not _cites(answer, source):
        return None
    plain = _CITATION.sub("", answer["text"]).strip(" .\n")
    match = re.search(re.escape(plain), text, re.IGNORECASE) if len(plain) >= _LEAST_QUOTED else None
    return match.span() if match else None


def _evidence(text: str, source: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[int, int] | None:
    if answer["annotations"] and not _cites(answer, source):
        return None
    first = int(source["start"])
    for verdict in answer.get("verdicts") or ():
        if verdict["label"] != "supported":
            continue
        for evidence in verdict["evidence"]:
            start, end = int(evidence["start"]) - first, int(evidence["end"]) - first
            if evidence["document_id"] == source["document_id"] and 0 <= start < end <= len(text):
                return start, end
    return None


def _cites(answer: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    return any(a["number"] == source["number"] for a in answer["annotations"])
