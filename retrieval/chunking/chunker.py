"""Documents into chunks with exact offsets, by one of three strategies. Knows of encoders only how they count."""

from __future__ import annotations

from collections.abc import Sequence

from data.documents import Document
from data.outline import Outline
from retrieval.chunking.chunks import Chunk
from retrieval.chunking.packing import by_headings, by_sentences, by_tokens
from retrieval.chunking.params import ChunkingParams, Strategy, TokenCounter
from retrieval.chunking.sentences import Span

__all__ = [
    "ChunkingParams",
    "Span",
    "Strategy",
    "TokenCounter",
    "chunk_document",
    "chunk_spans",
    "chunks_from_spans",
    "searchable_text",
]

_TITLE_LIMIT = 160


def chunk_document(document: Document, count: TokenCounter, params: ChunkingParams) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in order.

    Whole sentences are packed until the next one does not fit (other strategies: ``ChunkingParams``). A sentence over a
    limit is cut between lines, then between words, and a word over a limit between characters. Every non-space
    character lies in a chunk, and ``document.text[chunk.start:chunk.end] == chunk.text``. A chunk exceeds max_tokens
    only if it is one character. Raises ValueError for half of a surrogate pair, which is no character.
    """
    return chunks_from_spans(document, chunk_spans(document.text, count, params, document.outline))


def chunks_from_spans(document: Document, spans: Sequence[Span]) -> tuple[Chunk, ...]:
    """The chunks that lie at these spans of the document."""
    return tuple(
        Chunk(document.id, span.start, span.end, document.text[span.start : span.end], document.title) for span in spans
    )


def chunk_spans(
    text: str, count: TokenCounter, params: ChunkingParams, outline: Outline | None = None
) -> tuple[Span, ...]:
    """Where the chunks of a text lie. See ``chunk_document``. outline: the text's, for the strategy "headings"."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the text holds half of a surrogate pair at character {error.start}: repair it") from None
    match params.strategy:
        case "sentences":
            return by_sentences(text, count, params, outline.headings if outline else ())
        case "headings":
            return by_headings(text, outline.headings if outline else (), count, params)
        case "tokens":
            return by_tokens(text, count, params)


def searchable_text(chunk: Chunk) -> str:
    """What is embedded and indexed for a chunk: "title. text".

    A chunk from the middle of an article often does not name what the article is about; its title does. The title is
    cut at 160 characters, so that a long one cannot push the text out of the encoder's window.
    """
    title = " ".join(chunk.title.split())[:_TITLE_LIMIT].rstrip()
    if not title:
        return chunk.text
    return f"{title}{'' if title[-1] in '.?!' else '.'} {chunk.text}"
