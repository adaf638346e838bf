"""What a reader or a decoder is taught reading with: rows of questions on passages, made questions, bare questions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from app.training.texts import training_documents
from data.reading_examples import ReadingExample, load_reading
from data.reading_files import load_reading_files
from data.splits import split_by_group
from generation.reader.row_writing import RowWriter
from generation.reader.rows import ChunkPool, ReaderRows, RowMix, chunk_contexts
from generation.synthetic_questions.near_misses import near_misses
from generation.synthetic_questions.reading_examples import SourceArticle, join_questions, make_reading
from model.checkpoints.tokenizer import Tokenizer
from model.training.loop import TrainSettings
from model.training.rows import TokenRow
from retrieval.chunking.chunker import ChunkingParams
from retrieval.sparse.bm25 import Bm25Params, build_bm25
from retrieval.sparse.tokenising import TokenisingParams, tokenise, tokenise_all

_CALIBRATION_ARTICLES = 150


class ReadingRecipe(Protocol):
    """The part of a recipe that says what is read and made; app.training.reader.training.ReaderRecipe tells of each
    field.
    """

    @property
    def reading(self) -> tuple[Path, ...]:
        """Files of questions on passages."""
        ...

    @property
    def closed_book(self) -> tuple[Path, ...]:
        """Files of questions and answers alone."""
        ...

    @property
    def texts(self) -> tuple[Path, ...]:
        """Documents to make questions from, and that excerpts name."""
        ...

    @property
    def made(self) -> int:
        """About so many questions made by rule."""
        ...

    @property
    def tokens(self) -> int | None:
        """Positions of reading rows at most; None takes all."""
        ...

    @property
    def closed_book_rows(self) -> int:
        """Rows of bare questions at most."""
        ...

    @property
    def near_misses(self) -> float:
        """Share of answerable examples with a changed question too."""
        ...

    @property
    def hold_out(self) -> tuple[str, ...]:
        """Sources of which nothing is trained."""
        ...

    @property
    def limit(self) -> int | None:
        """Examples read of each file."""
        ...

    @property
    def skip_bad(self) -> bool:
        """Leave bad lines out."""
        ...

    @property
    def mix(self) -> RowMix:
        """Shares of each kind of row."""
        ...

    @property
    def settings(self) -> TrainSettings:
        """Of the run; its seed draws all of this."""
        ...


@dataclass(frozen=True, slots=True)
class ReadingDataset:
    """rows: to train on. development: examples of articles held out. made: questions by rule on articles that nothing
    is trained on. skipped: bad lines left out."""

    rows: list[TokenRow]
    development: tuple[ReadingExample, ...]
    made: list[ReadingExample]
    skipped: tuple[str, ...]


def reading_dataset(
    recipe: ReadingRecipe, writer: RowWriter, tokenizer: Tokenizer, say: Callable[[str], None]
) -> ReadingDataset:
    """All rows of a recipe, as ``writer`` writes them. tokenizer: cuts passages. Raises DataError as load_reading."""
    seed, mix = recipe.settings.seed, recipe.mix
    reading = load_reading_files(recipe.reading, skip_bad=recipe.skip_bad, limit=recipe.limit, texts=recipe.texts)
    split = split_by_group(reading.examples, hold_out=recipe.hold_out)
    say(f"{len(split.train)} examples to train on, {len(split.development)} of other articles to score on")
    skipped, made = reading.skipped, SyntheticQuestions([], [])
    if recipe.texts and recipe.made:
        made = synthetic_questions(recipe, {example.title for example in split.development})
        say(f"{len(made.train)} questions made by rule: {_counts(made.train)}")
    missed = near_misses(split.train, recipe.near_misses, seed=seed)
    if missed:
        say(f"{len(missed)} of them also with a changed question, to be refused")
    rows = reading_rows([*split.train, *missed], writer, tokenizer, mix, seed=seed, tokens=recipe.tokens)
    if recipe.tokens is None and len(rows) < len(split.train):
        say(
            f"{len(rows)} rows of {len(split.train)} examples: what does not fit the context, instructions and "
            "passages included, and what answers in no word of its passages gives none"
        )
    if made.train:  # each once: there are always more where they came from
        rows += reading_rows(made.train, writer, tokenizer, replace(mix, repeats=1), seed=seed)
    if recipe.closed_book and recipe.closed_book_rows:
        closed = load_reading(recipe.closed_book, skip_bad=recipe.skip_bad, limit=recipe.limit)
        skipped += closed.skipped
        rows += closed_book_rows(closed.examples, writer, mix, seed=seed, most=recipe.closed_book_rows)
    say(f"{len(rows)} rows, {sum(row.length for row in rows) / 1e6:.2f} million tokens")
    return ReadingDataset(rows, tuple(split.development), made.held, skipped)


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
class SyntheticQuestions:
    """Questions made by rule. held: on articles that nothing is trained on, to calibrate with."""

    train: list[ReadingExample]
    held: list[ReadingExample]


def synthetic_questions(recipe: ReadingRecipe, without: set[str]) -> SyntheticQuestions:
    """About ``recipe.made`` questions on documents of ``recipe.texts``, a few on each; none on titles ``without``.

    Those of closed_book are joined to documents which hold their answer.
    """
    seed, most = recipe.settings.seed, recipe.made
    titles = {title.casefold() for title in without if title}
    articles = [
        SourceArticle(document.title, document.text)
        for document in training_documents(recipe.texts)
        if document.title.casefold() not in titles
    ]
    random.Random(seed).shuffle(articles)
    count = min(_CALIBRATION_ARTICLES, len(articles) // 10)
    held, others = articles[:count], articles[count:]
    each = max(2, -(-most // max(1, len(others))))
    made = list(islice(make_reading(others, seed=seed, per_article=each), most))
    if recipe.closed_book:
        known = load_reading(recipe.closed_book, skip_bad=recipe.skip_bad, limit=recipe.limit).examples
        made += islice(join_questions(others, known, seed=seed), most // 5)
    return SyntheticQuestions(made, list(make_reading(held, seed=seed, per_article=2)))


def _counts(examples: Sequence[ReadingExample]) -> str:
    found = Counter(f"{e.source} {'answerable' if e.answerable else 'not'}" for e in examples)
    return ", ".join(f"{source} {count}" for source, count in found.most_common())


def _distractors(pool: ChunkPool) -> Callable[[str, int], Sequence[int]]:
    """BM25 over the pool's chunks: what the reader's own retriever would confuse it with."""
    tokenising = TokenisingParams()
    index = build_bm25(tokenise_all((chunk.text for chunk in pool.chunks), tokenising), Bm25Params())

    def search(query: str, k: int) -> Sequence[int]:
        return [hit.position for hit in index.search(tokenise(query, tokenising), k)]

    return search
