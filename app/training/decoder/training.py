"""Fine-tune a decoder checkpoint to answer questions from passages."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from app.training.reader.reading_dataset import reading_dataset
from data.reading_examples import ReadingExample
from evaluation.reading.reading_scores import ReadingScore, score_reading
from generation.causal.generator import CausalGenerator
from generation.causal.rows import CausalRowWriter
from generation.reader.rows import RowMix, chunk_contexts
from generation.reader.vocabulary import reader_vocabulary
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.files import write_atomic, write_json
from model.checkpoints.gguf.files import is_gguf
from model.checkpoints.llama_export import llama_config_json, save_llama
from model.checkpoints.loading import load_decoder
from model.checkpoints.source import fingerprint, tokenizer_config, tokenizer_text
from model.decoder.decoder import Decoder
from model.errors import ModelError
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.trainer import train
from retrieval.chunking.chunker import ChunkingParams

_TEXT_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class DecoderRecipe:
    """Settings of a fine-tuning run. For the other fields see app.training.reader.training.ReaderRecipe.

    model: folder of the checkpoint, which must have the Llama architecture. context: maximum number of positions of a
    row; None for that of the checkpoint. near_misses: share of the answerable examples that also appear with a changed,
    unanswerable question. dtype: type of the written weights. shard_bytes: maximum size of a weight file in bytes; None
    for no limit.
    """

    model: Path
    reading: tuple[Path, ...]
    closed_book: tuple[Path, ...] = ()
    texts: tuple[Path, ...] = ()
    made: int = 0
    context: int | None = None
    tokens: int | None = None
    closed_book_rows: int = 24_000
    near_misses: float = 0.0
    hold_out: tuple[str, ...] = ()
    limit: int | None = None
    skip_bad: bool = False
    development: int = 300
    dtype: torch.dtype = torch.float16
    shard_bytes: int | None = None
    mix: RowMix = field(default_factory=lambda: RowMix(max_chunks=6))
    settings: TrainSettings = field(
        default_factory=lambda: TrainSettings(learning_rate=5e-4, tokens_per_batch=16_384, answer_tokens_per_batch=3000)
    )


@dataclass(frozen=True, slots=True)
class TrainedDecoder:
    """The result of a fine-tuning run.

    folder: folder of the checkpoint. rows: number of training rows. skipped: invalid lines. scores: scores by source,
    on held-out articles. files: names of the weight files.
    """

    folder: Path
    rows: int
    skipped: tuple[str, ...]
    training: TrainResult
    scores: tuple[ReadingScore, ...]
    files: tuple[str, ...]


def train_decoder(
    recipe: DecoderRecipe,
    folder: Path,
    *,
    device: str = "cpu",
    notify: Callable[[str], None],
    progress: Callable[[TrainProgress], None] | None = None,
    scoring: Callable[[int, int], None] | None = None,
) -> TrainedDecoder:
    """Build the rows, train, write the checkpoint to ``folder``, and score it. Resumes from folder/checkpoints.

    say: called with messages. progress: called after each step. scoring: called with answered and total examples.
    Raises DataError for unreadable files. Raises ModelError if the checkpoint cannot be read, has another architecture
    or names no end token, and the errors of model.training.trainer.train and save_llama.
    """
    if folder.resolve() == recipe.model.resolve():
        raise ModelError(f"{folder} is the checkpoint to train: name another folder for the output")
    model = load_decoder(recipe.model, device=device)
    ends = eos_token_ids(recipe.model)
    if not ends:
        raise ModelError(f"{recipe.model} names no end token (eos_token_id): an answer would never end")
    llama_config_json(model.config, ends[0])  # checked now, not only when the weights are written
    started = fingerprint(recipe.model)
    context = min(recipe.context or model.config.max_positions, model.config.max_positions)
    writer = CausalRowWriter(recipe.model, context=context, end_id=ends[0])
    # Passages are chunked as in indexing, with MiniLM's tokens, because the model gets such chunks in practice.
    material = reading_dataset(recipe, writer, reader_vocabulary().tokenizer, notify)
    model.requires_grad_(True)
    result = train(model, material.rows, recipe.settings, folder / "checkpoints", progress=progress)
    files = _write(recipe, folder, model, ends)
    sample = list(material.development)
    random.Random(recipe.settings.seed).shuffle(sample)
    scores = score_decoder(folder, sample[: recipe.development], device=device, progress=scoring) if sample else ()
    write_json(
        folder / "training.json",
        {
            "recipe": {
                **asdict(recipe),
                "model": started,
                "dtype": str(recipe.dtype).removeprefix("torch."),
                "context": context,
                **{name: [path.name for path in getattr(recipe, name)] for name in ("reading", "closed_book", "texts")},
            },
            "rows": len(material.rows),
            "training": asdict(result),
            "scores": [asdict(score) for score in scores],
        },
    )
    return TrainedDecoder(folder, len(material.rows), material.skipped, result, scores, files)


def score_decoder(
    folder: Path,
    examples: Sequence[ReadingExample],
    *,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReadingScore, ...]:
    """Score the decoder of a folder on examples, each with all chunks of its context."""
    pool = chunk_contexts(examples, reader_vocabulary().tokenizer, ChunkingParams())
    passages = [[pool.chunks[i] for i in own] for own in pool.of_example]
    return score_reading(CausalGenerator(folder, device=device), examples, passages, progress=progress)


def _write(recipe: DecoderRecipe, folder: Path, model: Decoder, ends: Sequence[int]) -> tuple[str, ...]:
    """Write the checkpoint and return the names of its weight files. The weights are written last."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if is_gguf(recipe.model):
            write_atomic(folder / "tokenizer.json", tokenizer_text(recipe.model).encode())
            write_json(folder / "tokenizer_config.json", tokenizer_config(recipe.model))
        for name in _TEXT_FILES:
            if (recipe.model / name).is_file():
                write_atomic(folder / name, (recipe.model / name).read_bytes())
    except OSError as error:
        raise ModelError(
            f"the tokenizer could not be written to {folder} ({error}): free some space and try again"
        ) from error
    return save_llama(model, folder, end_id=ends[0], dtype=recipe.dtype, shard_bytes=recipe.shard_bytes)
