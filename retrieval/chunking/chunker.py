"""Split documents into chunks with exact character offsets, with one of three strategies."""

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
    """Split a document into chunks, in document order.

    By default, complete sentences are packed until the next one does not fit; ``ChunkingParams`` describes the other
    strategies. A sentence over a limit is split at line breaks, then at word boundaries. A word over a limit is split
    between characters. Every non-space character is in a chunk, and ``document.text[chunk.start:chunk.end] ==
    chunk.text``. A chunk exceeds max_tokens only if it is a single character.

    count: counts the tokens of texts. Raises ValueError if the text contains an unpaired surrogate.
    """
    return chunks_from_spans(document, chunk_spans(document.text, count, params, document.outline))


def chunks_from_spans(document: Document, spans: Sequence[Span]) -> tuple[Chunk, ...]:
    """Return the chunks of the document at the given spans."""
    return tuple(
        Chunk(document.id, span.start, span.end, document.text[span.start : span.end], document.title) for span in spans
    )


def chunk_spans(
    text: str, count: TokenCounter, params: ChunkingParams, outline: Outline | None = None
) -> tuple[Span, ...]:
    """Return the spans of a text's chunks; see ``chunk_document``.

    outline: headings of the text, used by the strategies "sentences" and "headings".
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text contains an unpaired surrogate at character {error.start}: correct its encoding"
        ) from None
    match params.strategy:
        case "sentences":
            return by_sentences(text, count, params, outline.headings if outline else ())
        case "headings":
            return by_headings(text, outline.headings if outline else (), count, params)
        case "tokens":
            return by_tokens(text, count, params)


def searchable_text(chunk: Chunk) -> str:
    """Return the text that is embedded and indexed for a chunk: "title. text".

    The title is added because a chunk from the middle of an article often does not name the article's subject. It is
    truncated to 160 characters, so that a long title cannot push the text out of the encoder's window.
    """
    title = " ".join(chunk.title.split())[:_TITLE_LIMIT].rstrip()
    if not title:
        return chunk.text
    return f"{title}{'' if title[-1] in '.?!' else '.'} {chunk.text}"
