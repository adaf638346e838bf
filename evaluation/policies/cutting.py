"""Cut complete claims with their punctuation and citations out of a text, so that the rest stays readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluation.language.citation_marks import MARK
from retrieval.chunking.sentences import Span

_CLOSERS = re.compile(r"[.,;:!?…。！？；，)\]}\"'”’»」』*_`]*")
_BLANKS = re.compile(r"[^\S\n]*")
_BULLET = re.compile(
    r"[ \t>]*(?:(?:[-*+•‣◦▪·–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?)?"
    r"[\"'“‘«「『(\[*_`]*"
)
_SENTENCE_END = re.compile(r"[.!?…。！？\n]")


def without_leading_marks(text: str, claim: Span) -> Span:
    """Return the claim without citations at its beginning, which belong to the sentence before it.

    The claim is unchanged in a text that puts citations before their sentences, or if it consists of citations only.
    """
    if _marks_first(text):
        return claim
    start = claim.start
    while (mark := MARK.match(text, start, claim.end)) is not None:
        start = mark.end()
        while start < claim.end and text[start].isspace():
            start += 1
    return Span(start, claim.end) if start < claim.end else claim


def _marks_first(text: str) -> bool:
    return MARK.match(text, len(text) - len(text.lstrip())) is not None


def cut_spans(text: str, claims: Sequence[Span], removed: Sequence[bool]) -> tuple[Span, ...]:
    """Return the spans to cut so that no removed claim remains, disjoint and in order.

    claims: spans of the text's claims, in order of position.
    removed: whether each claim is to be removed.

    A claim is cut with its opening and closing punctuation, its list mark, the citations after it (those before it, in
    a text that puts citations first) and the blanks that would remain. Claims of one sentence are cut together, because
    half a sentence is not readable.
    """
    marks_first = _marks_first(text)
    spans: list[Span] = []
    groups = _sentence_groups(text, claims)
    for place, group in enumerate(groups):
        if not any(removed[i] for i in group):
            continue
        floor = max((claims[i].end for g in groups[:place] for i in g), default=0)
        ceiling = min((claims[i].start for g in groups[place + 1 :] for i in g), default=len(text))
        start = _opening(text, claims[group[0]].start, floor, marks_first)
        end = _closing(text, max(claims[i].end for i in group), ceiling, marks_first)
        spans.append(_with_blanks(text, start, end))
    return _merged(spans)


def without_spans(text: str, spans: Sequence[Span]) -> str:
    """Return the text without the spans, which must be disjoint and in order."""
    kept, place = [], 0
    for span in spans:
        kept.append(text[place : span.start])
        place = span.end
    return "".join([*kept, text[place:]])


def shifted(position: int, spans: Sequence[Span]) -> int:
    """Return the new offset of a position outside the spans after they are cut."""
    return position - sum(span.end - span.start for span in spans if span.end <= position)


def _sentence_groups(text: str, claims: Sequence[Span]) -> list[list[int]]:
    """Group the indices of claims by sentence. Claims that overlap or are in one sentence form a group."""
    groups: list[list[int]] = []
    reach = 0
    for index, claim in enumerate(claims):
        # A quotation or bracket may close after the end of a sentence.
        before = text[:reach].rstrip("\"'”’»」』)]*_")[-1:] + text[reach : claim.start]
        if groups and (claim.start < reach or not _SENTENCE_END.search(before)):
            groups[-1].append(index)
        else:
            groups.append([index])
        reach = max(reach, claim.end)
    return groups


def _opening(text: str, start: int, floor: int, marks_first: bool) -> int:
    """Return the start of a claim with its opening punctuation, its list mark and, if marks_first, its citations."""
    line = text.rfind("\n", 0, start) + 1
    if line >= floor and _BULLET.fullmatch(text, line, start):
        return line
    while start > floor and not (text[start - 1].isspace() or text[start - 1].isalnum() or text[start - 1] in ".!?]"):
        start -= 1
    if marks_first:
        for mark in reversed(list(MARK.finditer(text, floor, start))):
            if text[mark.end() : start].strip():
                break
            start = mark.start()
    return start


def _closing(text: str, end: int, ceiling: int, marks_first: bool) -> int:
    """Return the end of a claim with its closing punctuation and, unless marks_first, the citations after it."""
    while True:
        end = _match_end(_CLOSERS, text, end, ceiling)
        mark = None if marks_first else MARK.match(text, _match_end(_BLANKS, text, end, ceiling), ceiling)
        if mark is None:
            return end
        end = mark.end()


def _match_end(pattern: re.Pattern[str], text: str, start: int, ceiling: int) -> int:
    found = pattern.match(text, start, ceiling)
    return found.end() if found else start


def _with_blanks(text: str, start: int, end: int) -> Span:
    """Return the span with the blanks after it, or with those before it at the end of a line.

    If the line would be empty, its line break is included.
    """
    end = _match_end(_BLANKS, text, end, len(text))
    if end == len(text) or text[end] == "\n":
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        if end == len(text):
            while start > 0 and text[start - 1].isspace():
                start -= 1
        elif start == 0 or text[start - 1] == "\n":
            end += 1
            while start == 0 and end < len(text) and text[end].isspace():
                end += 1
    return Span(start, end)


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for span in spans:
        if out and span.start <= out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        else:
            out.append(span)
    return tuple(out)
