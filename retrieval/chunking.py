"""Documents into chunks on sentence boundaries, with exact offsets. Knows nothing of encoders but how they count."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data.documents import Document
from retrieval.chunks import Chunk
from retrieval.sentences import Span, sentence_spans, strip_span

TokenCounter = Callable[[Sequence[str]], Sequence[int]]
"""The number of tokens of each text, without special tokens, without truncation."""

_TITLE_LIMIT = 160
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class ChunkingParams:
    """How documents are cut.

    max_tokens: the most tokens of the encoder a chunk may hold, as the sum over its sentences (for word-piece encoders
    that is the chunk's own count). overlap_sentences: how many sentences of a chunk are repeated at the head of the
    next one, where they fit. max_characters: a second limit, because a tokenizer may turn a long run of characters
    into one unknown token.
    """

    max_tokens: int = 110
    overlap_sentences: int = 0
    max_characters: int = 2000

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if self.overlap_sentences < 0:
            raise ValueError(f"overlap_sentences must not be negative, not {self.overlap_sentences}")
        if self.max_characters < 1:
            raise ValueError(f"max_characters must be at least 1, not {self.max_characters}")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a part of one that was too long, with its number of tokens."""

    start: int
    end: int
    tokens: int


def chunk_document(document: Document, count: TokenCounter, params: ChunkingParams) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in order.

    Whole sentences are packed until the next one does not fit. A sentence over a limit is cut between lines, then
    between words, and a word over a limit between characters. Every non-space character lies in a chunk, and
    ``document.text[chunk.start:chunk.end] == chunk.text``. A chunk exceeds max_tokens only if it is one character.
    """
    return chunks_from_spans(document, chunk_spans(document.text, count, params))


def chunks_from_spans(document: Document, spans: Sequence[Span]) -> tuple[Chunk, ...]:
    """The chunks that lie at these spans of the document."""
    return tuple(
        Chunk(document.id, span.start, span.end, document.text[span.start : span.end], document.title) for span in spans
    )


def chunk_spans(text: str, count: TokenCounter, params: ChunkingParams) -> tuple[Span, ...]:
    """Where the chunks of a text lie. See ``chunk_document``."""
    return _pack(_units(text, count, params), params)


def searchable_text(chunk: Chunk) -> str:
    """What is embedded and indexed for a chunk: "title. text".

    A chunk from the middle of an article often does not name what the article is about; its title does. The title is
    cut at 160 characters, so that a long one cannot push the text out of the encoder's window.
    """
    title = " ".join(chunk.title.split())[:_TITLE_LIMIT].rstrip()
    if not title:
        return chunk.text
    return f"{title}{'' if title[-1] in '.?!' else '.'} {chunk.text}"


def _units(text: str, count: TokenCounter, params: ChunkingParams) -> list[_Unit]:
    sentences = _counted(text, sentence_spans(text), count, params)
    units: list[_Unit] = []
    for sentence in sentences:
        if _fits(sentence, params):
            units.append(sentence)
            continue
        for line in _counted(text, _inside(text, sentence, _LINE), count, params):
            units.extend([line] if _fits(line, params) else _words(text, line, count, params))
    return units


def _words(text: str, line: _Unit, count: TokenCounter, params: ChunkingParams) -> list[_Unit]:
    """The line in pieces of whole words that each fill a chunk as far as they can."""
    pieces: list[_Unit] = []
    for word in _counted(text, _inside(text, line, _WORD), count, params):
        pieces.extend([word] if _fits(word, params) else _characters(text, word, count, params))
    packed: list[_Unit] = []
    for piece in pieces:
        if packed:
            joined = _Unit(packed[-1].start, piece.end, packed[-1].tokens + piece.tokens)
            if _fits(joined, params):
                packed[-1] = joined
                continue
        packed.append(piece)
    return packed


def _characters(text: str, word: _Unit, count: TokenCounter, params: ChunkingParams) -> list[_Unit]:
    """The word in pieces that fit: of max_characters first, then halved until each one does."""
    done: list[_Unit] = []
    step = params.max_characters
    pieces = [Span(start, min(start + step, word.end)) for start in range(word.start, word.end, step)]
    while pieces:
        todo: list[_Unit] = []
        for unit in _counted(text, pieces, count, params):
            (done if _fits(unit, params) or unit.end - unit.start == 1 else todo).append(unit)
        pieces = []
        for unit in todo:
            middle = (unit.start + unit.end) // 2
            pieces += [Span(unit.start, middle), Span(middle, unit.end)]
    return sorted(done, key=lambda unit: unit.start)


def _inside(text: str, unit: _Unit, pattern: re.Pattern[str]) -> list[Span]:
    spans = (strip_span(text, *match.span()) for match in pattern.finditer(text, unit.start, unit.end))
    return [span for span in spans if span is not None]


def _counted(text: str, spans: Sequence[Span], count: TokenCounter, params: ChunkingParams) -> list[_Unit]:
    """The spans with their counts. What is too long in characters is cut anyway, so its tokens are not counted."""
    short = [span for span in spans if span.end - span.start <= params.max_characters]
    counts = dict(zip(short, count([text[span.start : span.end] for span in short]), strict=True))
    return [_Unit(span.start, span.end, int(counts.get(span, params.max_tokens + 1))) for span in spans]


def _fits(unit: _Unit, params: ChunkingParams) -> bool:
    return unit.tokens <= params.max_tokens and unit.end - unit.start <= params.max_characters


def _pack(units: Sequence[_Unit], params: ChunkingParams) -> tuple[Span, ...]:
    chunks: list[Span] = []
    current: list[_Unit] = []
    for unit in units:
        if current and not _fits(_join([*current, unit]), params):
            chunks.append(Span(current[0].start, current[-1].end))
            current = current[len(current) - params.overlap_sentences :] if params.overlap_sentences else []
            # An overlap that leaves no room for the next sentence is shortened, so that every chunk brings something
            # new.
            while current and not _fits(_join([*current, unit]), params):
                current.pop(0)
        current.append(unit)
    if current:
        chunks.append(Span(current[0].start, current[-1].end))
    return tuple(chunks)


def _join(units: Sequence[_Unit]) -> _Unit:
    return _Unit(units[0].start, units[-1].end, sum(unit.tokens for unit in units))
