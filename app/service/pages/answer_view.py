"""An answer and its sources cut into pieces that a page can mark: citations, unsupported claims, quoted places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_CITATION = re.compile(r"\s*\[\d+\]")
_LEAST_QUOTED = 3
"""Shorter answers stand in too many places to say which was quoted."""


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Part of an answer's text. number: of the source it cites, None for plain text. unsupported: whether it stands in
    a claim that the documents do not support."""

    text: str
    number: int | None = None
    unsupported: bool = False


@dataclass(frozen=True, slots=True)
class QuotedSource:
    """A source's text: what stands before the place that an answer quotes, the place (perhaps empty), and the rest."""

    before: str
    quote: str
    after: str


def pieces(
    text: str, annotations: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]] = ()
) -> tuple[TextSegment, ...]:
    """The text cut at its citations and at the ends of unsupported claims; joined, the pieces are the text again."""
    cited = {(int(a["start"]), int(a["end"])): int(a["number"]) for a in annotations}
    bad = [(int(v["start"]), int(v["end"])) for v in verdicts if v["label"] in ("unverifiable", "contradicted")]
    cuts = sorted({0, len(text), *(place for span in (*cited, *bad) for place in span)})
    out = []
    for start, end in pairwise(cuts):
        number = next((n for (first, last), n in cited.items() if first <= start and end <= last), None)
        out.append(TextSegment(text[start:end], number, any(first <= start and end <= last for first, last in bad)))
    return tuple(piece for piece in out if piece.text)


def quoted(source: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> QuotedSource:
    """Where an answer was taken from: its words in the source it cites, else what a verdict names as its evidence.

    Of sources that an answer with citations does not cite, nothing: a verifier may have read one along.
    """
    text = str(source["text"])
    span = next((s for s in (_words(text, source, a) or _evidence(text, source, a) for a in answers) if s), None)
    start, end = span or (len(text), len(text))
    return QuotedSource(text[:start], text[start:end], text[end:])


def _words(text: str, source: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[int, int] | None:
    if not _cites(answer, source):
        return None
    said = _CITATION.sub("", answer["text"]).strip(" .\n")
    found = re.search(re.escape(said), text, re.IGNORECASE) if len(said) >= _LEAST_QUOTED else None
    return found.span() if found else None


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
