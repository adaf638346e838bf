"""What a reader or a decoder is taught reading with: rows of questions on passages, made questions, bare questions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data.documents import Document
from data.loaders import load_documents
from data.reading import ReadingExample, load_reading
from generation.making.reading import SourceArticle, join_questions, make_reading
from generation.reader_rows import ChunkPool, ReaderRows, RowMix, chunk_contexts
from generation.row_writing import RowWriter
from model.tokenizer import Tokenizer
from model.training.rows import TokenRow
from retrieval.bm25 import Bm25Params, build_bm25
from retrieval.chunking import ChunkingParams
from retrieval.tokenising import TokenisingParams, tokenise, tokenise_all

_CALIBRATION_ARTICLES = 150


def reading_rows(
    examples: Sequence[ReadingExample],
    writer: RowWriter,
    tokenizer: Tokenizer,
    mix: RowMix,
    *,
    seed: int,
    tokens: int | None = None,
) -> list[TokenRow]:
    """Rows of the examples in random order, of ``tokens`` positions at most; None takes all. tokenizer: cuts chunks."""
    pool = chunk_contexts(examples, tokenizer, ChunkingParams())
    rows = list(ReaderRows(writer, pool, _distractors(pool), mix, seed=seed).rows(examples))
    random.Random(seed).shuffle(rows)
    kept: list[TokenRow] = []
    total = 0
    for row in rows:
        total += row.length
        if tokens is not None and total > tokens:
            break
        kept.append(row)
    return kept


def closed_book_rows(
    examples: Sequence[ReadingExample], writer: RowWriter, mix: RowMix, *, seed: int, most: int
) -> list[TokenRow]:
    """Rows of ``most`` questions at most, drawn at random, without a passage."""
    drawn = list(examples)
    random.Random(seed).shuffle(drawn)
    drawn = drawn[:most]
    pool = ChunkPool((), tuple(() for _ in drawn))
    return list(ReaderRows(writer, pool, lambda query, k: (), mix, seed=seed).rows(drawn))


@dataclass(frozen=True, slots=True)
class MadeQuestions:
    """Questions made by rule. held: on articles that nothing is trained on, to calibrate with."""

    train: list[ReadingExample]
    held: list[ReadingExample]


def made_questions(
    texts: Sequence[Path],
    most: int,
    closed_book: Sequence[Path],
    without: set[str],
    *,
    seed: int,
    limit: int | None = None,
    skip_bad: bool = False,
) -> MadeQuestions:
    """About ``most`` questions on documents of ``texts``, a few on each; none on titles ``without``.

    closed_book: files of questions and answers that are joined to documents which hold the answer.
    """
    titles = {title.casefold() for title in without if title}
    articles = [
        SourceArticle(document.title, document.text)
        for document in load_documents(texts)
        if isinstance(document, Document) and document.title.casefold() not in titles
    ]
    random.Random(seed).shuffle(articles)
    count = min(_CALIBRATION_ARTICLES, len(articles) // 10)
    held, others = articles[:count], articles[count:]
    each = max(2, -(-most // max(1, len(others))))
    made = list(islice(make_reading(others, seed=seed, per_article=each), most))
    if closed_book:
        known = load_reading(closed_book, skip_bad=skip_bad, limit=limit).examples
        made += islice(join_questions(others, known, seed=seed), most // 5)
    return MadeQuestions(made, list(make_reading(held, seed=seed, per_article=2)))


def counts(examples: Sequence[ReadingExample]) -> str:
    """How many there are of each source, answerable and not, in words."""
    found = Counter(f"{e.source} {'answerable' if e.answerable else 'not'}" for e in examples)
    return ", ".join(f"{source} {count}" for source, count in found.most_common())


def _distractors(pool: ChunkPool) -> Callable[[str, int], Sequence[int]]:
    """BM25 over the pool's chunks: what the reader's own retriever would confuse it with."""
    tokenising = TokenisingParams()
    index = build_bm25(tokenise_all((chunk.text for chunk in pool.chunks), tokenising), Bm25Params())

    def search(query: str, k: int) -> Sequence[int]:
        return [hit.position for hit in index.search(tokenise(query, tokenising), k)]

    return search
