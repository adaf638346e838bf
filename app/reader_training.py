"""Training the embedded reader, wired: reading files to rows, rows to weights, weights to development figures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path

from data.documents import Document
from data.loaders import load_documents
from data.reading import ReadingExample, load_reading
from data.splits import split_by_group
from evaluation.reading.calibration import ReaderCalibration, calibrate_reader
from evaluation.reading.reading_scores import ReadingScore, score_reading
from generation.making.near_misses import near_misses
from generation.making.reading import SourceArticle, join_questions, make_reading
from generation.reader import EmbeddedReader
from generation.reader_rows import ChunkPool, ReaderRows, RowMix, chunk_contexts
from generation.reader_vocabulary import ReaderVocabulary, reader_vocabulary
from model.prefix_decoder import (
    FIRST_COPYABLE_ID,
    NULL_ID,
    PREFIX_CONFIG,
    change_reader_use,
    continue_from,
    prefix_decoder_fingerprint,
    save_prefix_decoder,
    warm_start,
)
from model.training.averaging import average_with, weights_of
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.rows import TokenRow
from model.training.trainer import train
from retrieval.bm25 import Bm25Params, build_bm25
from retrieval.chunking import ChunkingParams
from retrieval.tokenising import TokenisingParams, tokenise, tokenise_all

_CALIBRATION_ARTICLES = 150


@dataclass(frozen=True, slots=True)
class ReaderRecipe:
    """What a reader is trained on and how. tokens: positions of reading rows, drawn at random; None takes all.

    texts: documents that questions are made from by rule (generation/making), about ``made`` of them; no article whose
    title is held out is used; examples that name an excerpt find it there. plain: the first readers' network, without
    marks and without following what it copies. closed_book_rows: questions without a passage, so that without retrieval
    the reader answers at its own risk. near_misses: so many of the answerable examples also with a changed question
    that their passage does not answer.
    start: a trained reader's folder to go on from, None for MiniLM's own layers. start_share: so much of its weights in
    what is written, the rest are the run's.
    hold_out: sources of which nothing is trained. limit: examples read of each file. development: examples scored at
    the end, at most.
    """

    reading: tuple[Path, ...]
    closed_book: tuple[Path, ...] = ()
    texts: tuple[Path, ...] = ()
    made: int = 40_000
    plain: bool = False
    tokens: int | None = 4_600_000
    closed_book_rows: int = 24_000
    near_misses: float = 0.0
    start: Path | None = None
    start_share: float = 0.0
    hold_out: tuple[str, ...] = ()
    limit: int | None = None
    skip_bad: bool = False
    development: int = 600
    mix: RowMix = field(default_factory=RowMix)
    settings: TrainSettings = field(
        default_factory=lambda: TrainSettings(learning_rate=3e-4, first_copyable_id=FIRST_COPYABLE_ID, null_id=NULL_ID)
    )


@dataclass(frozen=True, slots=True)
class TrainedReader:
    """The outcome. skipped: bad lines left out. scores: by source, on articles held out whole.

    calibration: None where the examples held out are all answerable or all not.
    """

    folder: Path
    rows: int
    skipped: tuple[str, ...]
    training: TrainResult
    calibration: ReaderCalibration | None
    scores: tuple[ReadingScore, ...]


def train_reader(
    recipe: ReaderRecipe,
    folder: Path,
    *,
    device: str = "cpu",
    say: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None = None,
    scoring: Callable[[int, int], None] | None = None,
) -> TrainedReader:
    """Build the rows, train (resuming from folder/checkpoints), write the reader to ``folder``, score it.

    Raises DataError for unreadable files, ModelError as model.training.trainer.train does.
    """
    vocabulary = reader_vocabulary()
    reading = load_reading(recipe.reading, skip_bad=recipe.skip_bad, limit=recipe.limit, texts=recipe.texts)
    start = recipe.start
    model = (continue_from(start) if start else warm_start(recipe.settings.seed, plain=recipe.plain)).to(device)
    # Kept from here on: by the end of the run another model may lie in that folder.
    begun, start_name = weights_of(model), prefix_decoder_fingerprint(start) if start else "MiniLM"
    split = split_by_group(reading.examples, hold_out=recipe.hold_out)
    say(f"{len(split.train)} examples to train on, {len(split.development)} of other articles to score on")
    skipped = reading.skipped
    made = _Made([], [])
    if recipe.texts and recipe.made:
        made = _made(recipe, {example.title for example in split.development})
        say(f"{len(made.train)} questions made by rule: {_counts(made.train)}")
    missed = near_misses(split.train, recipe.near_misses, seed=recipe.settings.seed)
    if missed:
        say(f"{len(missed)} of them also with a changed question, to be refused")
    rows = _reading_rows([*split.train, *missed], vocabulary, recipe)
    # Each made question once: there are always more where they came from.
    once = replace(recipe, tokens=None, mix=replace(recipe.mix, repeats=1))
    rows += _reading_rows(made.train, vocabulary, once) if made.train else []
    if recipe.closed_book and recipe.closed_book_rows:
        closed = load_reading(recipe.closed_book, skip_bad=recipe.skip_bad, limit=recipe.limit)
        skipped += closed.skipped
        rows += _closed_book_rows(closed.examples, vocabulary, recipe)
    say(f"{len(rows)} rows, {sum(row.length for row in rows) / 1e6:.2f} million tokens")
    result = train(model, rows, recipe.settings, folder / "checkpoints", progress=progress)
    average_with(model, begun, recipe.start_share)
    save_prefix_decoder(
        model,
        folder,
        {
            "recipe": {
                **asdict(recipe),
                "reading": [path.name for path in recipe.reading],
                "texts": [path.name for path in recipe.texts],
                "closed_book": [path.name for path in recipe.closed_book],
                "start": start_name,
            },
            "rows": len(rows),
            "steps": result.steps,
            "schedules": result.schedules,
            "loss": result.loss,
            "seconds": round(result.seconds),
        },
    )
    sample = list(split.development)
    random.Random(recipe.settings.seed).shuffle(sample)
    # Nothing of a source held out is used to choose anything either.
    known = [example for example in sample if example.source not in recipe.hold_out]
    calibration = _calibrate(folder, known[: recipe.development] + made.held, vocabulary, recipe, device, scoring)
    scores = score_reader(folder, sample[: recipe.development], device=device, progress=scoring) if sample else ()
    return TrainedReader(folder, len(rows), skipped, result, calibration, scores)


def _calibrate(
    folder: Path,
    examples: list[ReadingExample],
    vocabulary: ReaderVocabulary,
    recipe: ReaderRecipe,
    device: str,
    progress: Callable[[int, int], None] | None,
) -> ReaderCalibration | None:
    """Temperature and null bias on held-out examples, written beside the weights; None where they are of one kind."""
    if len({example.answerable for example in examples}) < 2:
        return None
    plain = replace(recipe, tokens=None, mix=replace(recipe.mix, repeats=1, without_gold=0.0))
    answerable = [example for example in examples if example.answerable][:200]
    rows = _reading_rows(answerable, vocabulary, plain)
    pool = chunk_contexts(examples, vocabulary, ChunkingParams())
    passages = [[pool.chunks[i] for i in own] for own in pool.of_example]
    found = calibrate_reader(EmbeddedReader(folder, device=device), examples, passages, rows, progress=progress)
    change_reader_use(folder, found.use, {"calibration": asdict(found)})
    return found


def score_reader(
    folder: Path | None,
    examples: Sequence[ReadingExample],
    *,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReadingScore, ...]:
    """Score a reader's folder (the shipped one for None) on examples, each with all chunks of its own context."""
    reader = EmbeddedReader(folder, device=device)
    pool = chunk_contexts(examples, reader_vocabulary(), ChunkingParams())
    passages = [[pool.chunks[i] for i in own] for own in pool.of_example]
    return score_reading(reader, examples, passages, progress=progress)


def _reading_rows(
    examples: Sequence[ReadingExample], vocabulary: ReaderVocabulary, recipe: ReaderRecipe
) -> list[TokenRow]:
    pool = chunk_contexts(examples, vocabulary, ChunkingParams())
    builder = ReaderRows(
        vocabulary,
        pool,
        _distractors(pool),
        recipe.mix,
        seed=recipe.settings.seed,
        max_positions=PREFIX_CONFIG.max_positions,
    )
    rows = list(builder.rows(examples))
    random.Random(recipe.settings.seed).shuffle(rows)
    kept: list[TokenRow] = []
    total = 0
    for row in rows:
        total += row.length
        if recipe.tokens is not None and total > recipe.tokens:
            break
        kept.append(row)
    return kept


@dataclass(frozen=True, slots=True)
class _Made:
    """Questions made by rule. held: on articles that nothing is trained on, to calibrate with."""

    train: list[ReadingExample]
    held: list[ReadingExample]


def _made(recipe: ReaderRecipe, without: set[str]) -> _Made:
    """About ``recipe.made`` questions on documents of ``recipe.texts``, a few on each; none on titles ``without``."""
    titles = {title.casefold() for title in without if title}
    articles = [
        SourceArticle(document.title, document.text)
        for document in load_documents(recipe.texts)
        if isinstance(document, Document) and document.title.casefold() not in titles
    ]
    seed = recipe.settings.seed
    random.Random(seed).shuffle(articles)
    count = min(_CALIBRATION_ARTICLES, len(articles) // 10)
    held, others = articles[:count], articles[count:]
    each = max(2, -(-recipe.made // max(1, len(others))))
    made = list(islice(make_reading(others, seed=seed, per_article=each), recipe.made))
    if recipe.closed_book:
        known = load_reading(recipe.closed_book, skip_bad=recipe.skip_bad, limit=recipe.limit).examples
        made += islice(join_questions(others, known, seed=seed), recipe.made // 5)
    return _Made(made, list(make_reading(held, seed=seed, per_article=2)))


def _counts(examples: Sequence[ReadingExample]) -> str:
    found = Counter(f"{e.source} {'answerable' if e.answerable else 'not'}" for e in examples)
    return ", ".join(f"{source} {count}" for source, count in found.most_common())


def _closed_book_rows(
    examples: Sequence[ReadingExample], vocabulary: ReaderVocabulary, recipe: ReaderRecipe
) -> list[TokenRow]:
    drawn = list(examples)
    random.Random(recipe.settings.seed).shuffle(drawn)
    drawn = drawn[: recipe.closed_book_rows]
    builder = ReaderRows(
        vocabulary,
        ChunkPool((), tuple(() for _ in drawn)),
        lambda query, k: (),
        recipe.mix,
        seed=recipe.settings.seed,
        max_positions=PREFIX_CONFIG.max_positions,
    )
    return list(builder.rows(drawn))


def _distractors(pool: ChunkPool) -> Callable[[str, int], Sequence[int]]:
    """BM25 over the pool's chunks: what the reader's own retriever would confuse it with."""
    tokenising = TokenisingParams()
    index = build_bm25(tokenise_all((chunk.text for chunk in pool.chunks), tokenising), Bm25Params())

    def search(query: str, k: int) -> Sequence[int]:
        return [hit.position for hit in index.search(tokenise(query, tokenising), k)]

    return search
