"""Split text into the units that are packed into chunks: sentences and parts of long sentences, with token counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.chunking.params import ChunkingParams, TokenCounter
from retrieval.chunking.sentences import Span, sentence_spans, strip_span

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that is not split further, with its token count."""

    start: int
    end: int
    tokens: int


def sentence_units(text: str, count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    """Split text into sentences. A sentence over a limit is split at line breaks, then words, then characters."""
    sentences = _counted(text, sentence_spans(text), count, params)
    units: list[Unit] = []
    for sentence in sentences:
        if fits(sentence, params):
            units.append(sentence)
            continue
        for line in _counted(text, _inside(text, sentence, _LINE), count, params):
            units.extend([line] if fits(line, params) else _words(text, line, count, params))
    return units


def word_units(text: str, count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    """Split text into words. A word over a limit is split into pieces."""
    return _words_within(text, Unit(0, len(text), 0), count, params)


def _words(text: str, line: Unit, count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    """Split a line into pieces of complete words, each as long as a chunk allows."""
    packed: list[Unit] = []
    for piece in _words_within(text, line, count, params):
        if packed:
            joined = Unit(packed[-1].start, piece.end, packed[-1].tokens + piece.tokens)
            if fits(joined, params):
                packed[-1] = joined
                continue
        packed.append(piece)
    return packed


def _words_within(text: str, unit: Unit, count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    pieces: list[Unit] = []
    for word in _counted(text, _inside(text, unit, _WORD), count, params):
        pieces.extend([word] if fits(word, params) else _characters(text, word, count, params))
    return pieces


def _characters(text: str, word: Unit, count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    """Split a word into pieces that fit, first by max_characters, then by halving."""
    done: list[Unit] = []
    step = params.max_characters
    pieces = [Span(start, min(start + step, word.end)) for start in range(word.start, word.end, step)]
    while pieces:
        todo: list[Unit] = []
        for unit in _counted(text, pieces, count, params):
            (done if fits(unit, params) or unit.end - unit.start == 1 else todo).append(unit)
        pieces = []
        for unit in todo:
            middle = (unit.start + unit.end) // 2
            pieces += [Span(unit.start, middle), Span(middle, unit.end)]
    return sorted(done, key=lambda unit: unit.start)


def _inside(text: str, unit: Unit, pattern: re.Pattern[str]) -> list[Span]:
    spans = (strip_span(text, *match.span()) for match in pattern.finditer(text, unit.start, unit.end))
    return [span for span in spans if span is not None]


def _counted(text: str, spans: Sequence[Span], count: TokenCounter, params: ChunkingParams) -> list[Unit]:
    """Return the spans with token counts. Tokens of a span over max_characters are not counted, as it is split."""
    short = [span for span in spans if span.end - span.start <= params.max_characters]
    counts = dict(zip(short, count([text[span.start : span.end] for span in short]), strict=True))
    return [Unit(span.start, span.end, int(counts.get(span, params.max_tokens + 1))) for span in spans]


def fits(unit: Unit, params: ChunkingParams) -> bool:
    """Return whether the unit fits into a chunk."""
    return unit.tokens <= params.max_tokens and unit.end - unit.start <= params.max_characters
