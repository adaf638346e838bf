"""Pretrain a decoder from scratch on documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from app.training.pretraining.corpus import (
    TOKENIZER,
    CorpusRecipe,
    PreparedCorpus,
    facts_json,
    prepare_corpus,
    single_corpus,
)
from model.checkpoints.files import write_json
from model.checkpoints.llama_export import largest_tensor_bytes, save_llama
from model.checkpoints.loading import load_decoder
from model.errors import ModelError
from model.training.bpe import END_ID, PAD_ID, BpeEncoder, write_tokenizer
from model.training.pretrain import (
    CheckpointOptions,
    PretrainProgress,
    PretrainResult,
    PretrainSettings,
    ValidationPlan,
    pretrain,
)
from model.training.pretrain_corpus import TokenStream
from model.training.pretrain_shape import Size, new_decoder, parameter_count, pretrain_config
from model.training.pretrain_validation import Validation, validate


@dataclass(frozen=True, slots=True)
class PretrainRecipe:
    """Settings of a pretraining run.

    size: size of the network. settings: settings of training. corpus: settings of the corpus; None for the corpus that
    exists in the output folder. dtype: type of the written weights. shard_bytes: maximum size of a file of checkpoints
    and model, in bytes; None for no limit. max_seconds: time limit of a call; None for no limit. checkpoint_seconds:
    time between two checkpoints. validation_tokens: maximum number of held-out tokens to evaluate on.
    """

    size: Size
    settings: PretrainSettings
    corpus: CorpusRecipe | None
    dtype: torch.dtype = torch.float16
    shard_bytes: int | None = None
    max_seconds: float | None = None
    checkpoint_seconds: float = 120.0
    validation_tokens: int = 200_000


@dataclass(frozen=True, slots=True)
class PretrainOutcome:
    """The result of a pretraining run.

    parameters: number of parameters. corpus, training: None if the time limit was reached before. validation: scores of
    the written model; None if it is not finished or nothing was held out. files: names of the weight files; empty if
    the model is not finished.
    """

    folder: Path
    parameters: int
    corpus: PreparedCorpus | None
    training: PretrainResult | None
    validation: Validation | None
    files: tuple[str, ...]

    @property
    def finished(self) -> bool:
        """Whether the model was written."""
        return bool(self.files)


def pretrain_decoder(
    recipe: PretrainRecipe,
    folder: Path,
    *,
    device: str = "cpu",
    notify: Callable[[str], None],
    reading: Callable[[int], None] | None = None,
    progress: Callable[[PretrainProgress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> PretrainOutcome:
    """Build the corpus, train, and write the model to ``folder``, with subfolders for corpus and checkpoints.

    An interrupted call is resumed. The call stops after max_seconds and keeps its work. say: called with messages.
    reading: called with the number of tokenised documents. progress: called after each step. clock: function that
    returns a monotonic time in seconds. Raises DataError for unreadable text, and the errors of
    model.training.pretrain.pretrain.
    """
    begun = clock()

    def out_of_time() -> bool:
        return recipe.max_seconds is not None and clock() - begun >= recipe.max_seconds

    if recipe.corpus is None:
        corpus: PreparedCorpus | None = single_corpus(folder / "corpus")
    else:
        corpus = prepare_corpus(recipe.corpus, folder / "corpus", notify=notify, progress=reading, stop=out_of_time)
    if corpus is None:
        return PretrainOutcome(folder, 0, None, None, None, ())
    encoder = BpeEncoder(corpus.folder / TOKENIZER)
    facts, settings = corpus.facts, recipe.settings
    config = pretrain_config(recipe.size, encoder.size, settings.context)
    if recipe.shard_bytes is not None and largest_tensor_bytes(config, recipe.dtype) > recipe.shard_bytes:
        raise ModelError(  # checked now, not only when the model is written
            f"the largest matrix takes {largest_tensor_bytes(config, recipe.dtype):,} bytes in "
            f"{recipe.dtype}, but a file may have {recipe.shard_bytes:,}: allow larger files, "
            "or choose a smaller --dtype or --vocabulary"
        )
    model = new_decoder(config, settings.seed).to(device)
    parameters = parameter_count(model)
    validation = TokenStream(corpus.folder, facts, "validation")
    notify(
        f"{facts.tokens('train'):,} tokens of {facts.documents - facts.validation_documents:,} documents to train on, "
        f"{len(validation):,} of {facts.validation_documents:,} others held out; "
        f"{parameters / 1e6:.2f} million parameters"
    )
    measured = (
        ValidationPlan(validation, encoder.token_bytes(), END_ID, recipe.validation_tokens) if len(validation) else None
    )
    result = pretrain(
        model,
        TokenStream(corpus.folder, facts, "train"),
        settings,
        folder / "checkpoints",
        corpus=corpus.folder.name,
        validation=measured,
        checkpoints=CheckpointOptions(recipe.checkpoint_seconds, recipe.shard_bytes),
        stop=out_of_time,
        progress=progress,
    )
    if not result.finished:
        return PretrainOutcome(folder, parameters, corpus, result, None, ())
    write_tokenizer(folder, (corpus.folder / TOKENIZER).read_bytes(), settings.context)
    files = save_llama(model, folder, end_id=END_ID, pad_id=PAD_ID, dtype=recipe.dtype, shard_bytes=recipe.shard_bytes)
    # Evaluate the written model, with rounded weights and the regular loader.
    written = load_decoder(folder, device=device)
    final = (
        validate(
            written,
            validation,
            encoder.token_bytes(),
            context=settings.context,
            end_id=END_ID,
            tokens=recipe.validation_tokens,
            bf16=False,
        )
        if measured is not None
        else None
    )
    write_json(
        folder / "training.json",
        {
            "size": recipe.size,
            "parameters": parameters,
            "settings": asdict(settings),
            "corpus": facts_json(facts),
            "training": asdict(result),
            "validation": validation_json(final),
        },
    )
    return PretrainOutcome(folder, parameters, corpus, result, final, files)


def validation_json(found: Validation | None) -> dict[str, object] | None:
    """Return the scores of a validation as JSON values; None if there are none."""
    if found is None:
        return None
    return {
        "tokens": found.tokens,
        "loss": found.loss,
        "perplexity": found.perplexity,
        "bits_per_byte": found.bits_per_byte,
        "byte_perplexity": found.byte_perplexity,
    }
