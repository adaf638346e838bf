"""Training the embedded reader, wired: reading files to rows, rows to weights, weights to development figures."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from app.errors import AppError
from app.training.reader.decline_fitting import fit_declining
from app.training.reader.reading_dataset import reading_dataset, reading_rows
from data.reading_examples import ReadingExample
from evaluation.reading.calibration import ReaderCalibration, calibrate_reader
from evaluation.reading.reading_scores import ReadingScore, score_reading
from generation.reader.reader import EmbeddedReader
from generation.reader.row_writing import ReaderRowWriter
from generation.reader.rows import RowMix, chunk_contexts
from generation.reader.vocabulary import ReaderVocabulary, reader_vocabulary
from model.checkpoints.minilm import MINILM_LAYERS
from model.reader.prefix_decoder import (
    FIRST_COPYABLE_ID,
    NULL_ID,
    PREFIX_CONFIG,
    change_reader_use,
    continue_from,
    correction_of,
    prefix_decoder_fingerprint,
    reader_use,
    save_prefix_decoder,
    warm_start,
)
from model.training.averaging import average_with, weights_of
from model.training.decline_fitting import DeclineFit
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.trainer import train
from retrieval.chunking.chunker import ChunkingParams


@dataclass(frozen=True, slots=True)
class ReaderRecipe:
    """What a reader is trained on and how. tokens: positions of reading rows, drawn at random; None takes all.

    texts: documents that questions are made from by rule (generation/synthetic_questions), about ``made`` of them; no
    article whose title is held out is used; examples that name an excerpt find it there. plain: the first readers'
    network, without marks and without following what it copies. num_layers: of MiniLM's, from the bottom; ``start``
    has its own. closed_book_rows: questions without a passage, so that without retrieval the reader answers at its
    own risk. near_misses: so many of the answerable examples also with a changed question that their passage does not
    answer. decline_rows: rows read once more behind the training, to fit when it declines on
    (model/training/decline_fitting.py); 0: not fitted. only_decline: nothing is trained, that is fitted anew for the
    reader of ``start``, whose temperature and null bias stay where no examples are held out to choose others. start:
    a trained reader's folder to go on from, None for MiniLM's own layers. start_share: so much of its weights in what
    is written, the rest are the run's. hold_out: sources of which nothing is trained. limit: examples read of each
    file. development: examples scored at the end, at most.
    """

    reading: tuple[Path, ...]
    closed_book: tuple[Path, ...] = ()
    texts: tuple[Path, ...] = ()
    made: int = 40_000
    plain: bool = False
    num_layers: int = MINILM_LAYERS
    tokens: int | None = 4_600_000
    closed_book_rows: int = 24_000
    near_misses: float = 0.0
    decline_rows: int = 8000
    only_decline: bool = False
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

    training: None where nothing was trained. declining: how its fit went, None where there was none. calibration: None
    where the examples held out are all answerable or all not.
    """

    folder: Path
    rows: int
    skipped: tuple[str, ...]
    training: TrainResult | None
    declining: DeclineFit | None
    calibration: ReaderCalibration | None
    scores: tuple[ReadingScore, ...]


def train_reader(
    recipe: ReaderRecipe,
    folder: Path,
    *,
    device: str = "cpu",
    say: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None = None,
    reading: Callable[[int, int], None] | None = None,
    scoring: Callable[[int, int], None] | None = None,
) -> TrainedReader:
    """Build the rows, train (resuming from folder/checkpoints), write the reader to ``folder``, score it.

    progress: told of each step; reading: of rows read once more behind the training; scoring: of examples answered.

    Raises DataError for unreadable files, ModelError as model.training.trainer.train does, AppError where only_decline
    would leave the reader no better.
    """
    vocabulary = reader_vocabulary()
    start = recipe.start
    if start:
        model = continue_from(start)
    else:
        model = warm_start(recipe.settings.seed, plain=recipe.plain, num_layers=recipe.num_layers)
    model = model.to(device)
    # Kept from here on: by the end of the run another model may lie in that folder.
    begun, start_name = weights_of(model), prefix_decoder_fingerprint(start) if start else "MiniLM"
    corrected = correction_of(start) if start else None
    used: dict[str, object] = {"use": asdict(reader_use(start))} if start else {}
    writer = ReaderRowWriter(vocabulary, max_positions=PREFIX_CONFIG.max_positions)
    material = reading_dataset(recipe, writer, vocabulary.tokenizer, say)
    result = None
    if not recipe.only_decline:
        result = train(model, material.rows, recipe.settings, folder / "checkpoints", progress=progress)
        average_with(model, [(begun, recipe.start_share)])
    sample = list(material.development)
    random.Random(recipe.settings.seed).shuffle(sample)
    # Nothing of a source held out is used to choose anything either.
    known = [example for example in sample if example.source not in recipe.hold_out][: recipe.development]
    declining = None
    if recipe.decline_rows:
        model, declining = fit_declining(
            model,
            material.rows,
            reading_rows(known, writer, vocabulary.tokenizer, recipe.mix, seed=recipe.settings.seed),
            vocabulary,
            most=recipe.decline_rows,
            seed=recipe.settings.seed,
            tokens_per_batch=recipe.settings.tokens_per_batch,
            begun=corrected,
            say=say,
            progress=reading,
        )
    if recipe.only_decline and (declining is None or declining.used != "fitted"):
        raise AppError(
            "nothing was written: when the reader of --start declines could not be fitted any better (the line above "
            "says why); give it more rows, or of both kinds"
        )
    run = used if result is None else _about(result)
    save_prefix_decoder(
        model,
        folder,
        {
            "recipe": {
                **asdict(recipe),
                "num_layers": model.config.num_layers,
                "reading": [path.name for path in recipe.reading],
                "texts": [path.name for path in recipe.texts],
                "closed_book": [path.name for path in recipe.closed_book],
                "start": start_name,
            },
            "rows": len(material.rows),
            "declining": asdict(declining) if declining is not None else None,
            **run,
        },
    )
    calibration = _calibrate(folder, known + material.made, vocabulary, recipe, device, scoring)
    scores = score_reader(folder, sample[: recipe.development], device=device, progress=scoring) if sample else ()
    return TrainedReader(folder, len(material.rows), material.skipped, result, declining, calibration, scores)


def _about(result: TrainResult) -> dict[str, object]:
    return {
        "steps": result.steps,
        "schedules": result.schedules,
        "loss": result.loss,
        "seconds": round(result.seconds),
    }


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
    plain = replace(recipe.mix, repeats=1, without_gold=0.0)
    answerable = [example for example in examples if example.answerable][:200]
    writer = ReaderRowWriter(vocabulary, max_positions=PREFIX_CONFIG.max_positions)
    rows = reading_rows(answerable, writer, vocabulary.tokenizer, plain, seed=recipe.settings.seed)
    pool = chunk_contexts(examples, vocabulary.tokenizer, ChunkingParams())
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
    pool = chunk_contexts(examples, reader_vocabulary().tokenizer, ChunkingParams())
    passages = [[pool.chunks[i] for i in own] for own in pool.of_example]
    return score_reading(reader, examples, passages, progress=progress)
