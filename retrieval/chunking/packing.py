"""Pack text units into chunks, with one of three strategies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from data.outline import Heading
from retrieval.chunking.params import ChunkingParams, TokenCounter
from retrieval.chunking.sentences import Span
from retrieval.chunking.units import Unit, fits, sentence_units, word_units

_WORDS = re.compile(r"\w")


def by_sentences(
    text: str, count: TokenCounter, params: ChunkingParams, headings: Sequence[Heading] = ()
) -> tuple[Span, ...]:
    """Pack complete sentences until the next one does not fit.

    Each chunk repeats the last ``overlap_sentences`` sentences of the previous chunk. headings: spans of the headings
    in the text. A heading that would end a chunk starts the next chunk instead, together with the text below it.
    """
    units = sentence_units(text, count, params)
    return _pack(units, params, heading_units(text, units, headings))


def heading_units(text: str, units: Sequence[Unit], headings: Sequence[Heading]) -> frozenset[Unit]:
    """Return the units that consist of headings only."""
    found: set[Unit] = set()
    starts = [heading.start for heading in headings]
    for unit in units:
        at, covered = bisect_left(starts, unit.start), unit.start
        while (
            at < len(headings) and headings[at].end <= unit.end and not _WORDS.search(text, covered, headings[at].start)
        ):
            covered = headings[at].end
            at += 1
        if covered > unit.start and not _WORDS.search(text, covered, unit.end):
            found.add(unit)
    return frozenset(found)


def by_headings(
    text: str, headings: Sequence[Heading], count: TokenCounter, params: ChunkingParams
) -> tuple[Span, ...]:
    """Pack sentences as ``by_sentences`` does, but within sections. Each heading starts a section.

    headings: spans of the headings, in text order. Without headings, the text is one section. No chunk crosses a
    section boundary or overlaps into another section. A heading without text below it is merged with the next section,
    and at the end with the previous one. As a separate chunk it would match many queries and answer none.
    """
    spans: list[Span] = []
    for left, right in pairwise([*_borders(text, headings), len(text)]):
        spans.extend(Span(left + s.start, left + s.end) for s in by_sentences(text[left:right], count, params))
    return tuple(spans)


def by_tokens(text: str, count: TokenCounter, params: ChunkingParams) -> tuple[Span, ...]:
    """Pack words into windows that are as full as possible.

    Consecutive windows overlap by at most ``overlap_tokens``.
    """
    units = word_units(text, count, params)
    spans: list[Span] = []
    first = 0
    while first < len(units):
        last, tokens = first, units[first].tokens
        while last + 1 < len(units) and fits(
            Unit(units[first].start, units[last + 1].end, tokens + units[last + 1].tokens), params
        ):
            last += 1
            tokens += units[last].tokens
        spans.append(Span(units[first].start, units[last].end))
        if last + 1 == len(units):
            break
        following, repeated = last + 1, 0
        # The repeated words must leave space for the next word, so that every window adds new text.
        while (
            following - 1 > first
            and (repeated := repeated + units[following - 1].tokens) <= params.overlap_tokens
            and fits(Unit(units[following - 1].start, units[last + 1].end, repeated + units[last + 1].tokens), params)
        ):
            following -= 1
        first = following
    return tuple(spans)


def _borders(text: str, headings: Sequence[Heading]) -> list[int]:
    """Return the start of each section, which is the line of a heading with text below it."""
    borders = [0]
    ends = [heading.start for heading in headings[1:]] + [len(text)]
    below = headings and _WORDS.search(text, 0, headings[0].start) is not None
    for heading, end in zip(headings, ends, strict=False):
        if below:
            line = text.rfind("\n", borders[-1], heading.start) + 1
            borders.append(line if line > borders[-1] else heading.start)
            below = False
        below = below or _WORDS.search(text, heading.end, end) is not None
    if not below and len(borders) > 1:
        borders.pop()
    return borders


def _pack(units: Sequence[Unit], params: ChunkingParams, headings: frozenset[Unit] = frozenset()) -> tuple[Span, ...]:
    chunks: list[Span] = []
    current: list[Unit] = []
    for unit in units:
        if current and not fits(_joined([*current, unit]), params):
            ahead = _trailing(current, headings)
            if 0 < ahead < len(current) and fits(_joined([*current[-ahead:], unit]), params):
                chunks.append(Span(current[0].start, current[-ahead - 1].end))
                current = [*current[-ahead:], unit]
                continue
            chunks.append(Span(current[0].start, current[-1].end))
            current = current[len(current) - params.overlap_sentences :] if params.overlap_sentences else []
            # An overlap that leaves no space for the next sentence is shortened, so that every chunk adds new text.
            while current and not fits(_joined([*current, unit]), params):
                current.pop(0)
        current.append(unit)
    if current:
        chunks.append(Span(current[0].start, current[-1].end))
    return tuple(chunks)


def _trailing(units: Sequence[Unit], headings: frozenset[Unit]) -> int:
    """Return the number of headings at the end of the units."""
    count = 0
    while count < len(units) and units[-1 - count] in headings:
        count += 1
    return count


def _joined(units: Sequence[Unit]) -> Unit:
    return Unit(units[0].start, units[-1].end, sum(unit.tokens for unit in units))
