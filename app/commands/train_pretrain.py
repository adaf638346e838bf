"""Train a decoder from scratch on your own text.

``plumbline train pretrain --data PATH --output FOLDER`` reads folders of .txt and .md files, single files, and .jsonl
(also .gz, .bz2) of {"id", "title", "text"}. It trains a byte-level BPE tokenizer, tokenises the text once into
FOLDER/corpus, and trains a Llama decoder with checkpoints in FOLDER/checkpoints. It then writes a Hugging Face
checkpoint to FOLDER, for ``plumbline query --model FOLDER`` and for transformers. Some documents are held out for
evaluation.

The same command continues a run that was killed, or stopped by --max-seconds (exit code 0, with a message). For short
sessions on several machines, --shard-bytes 15000000 splits corpus, checkpoints and model into files of at most that
size. A machine that has FOLDER/corpus does not need --data.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.choices import WRITTEN_DTYPES
from app.commands.options import add_device, add_limit, add_seed, add_skip_bad, device_name
from app.commands.parser import rare
from app.commands.training_options import nonempty_path
from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.training.pretraining.training import PretrainRecipe
    from model.training.pretrain_shape import Size

_POSITIVE = (
    "limit",
    "vocabulary",
    "context",
    "epochs",
    "steps",
    "tokens_per_step",
    "tokens_at_once",
    "learning_rate",
    "validation_tokens",
    "shard_bytes",
    "max_seconds",
    "checkpoint_seconds",
)
_SMALLEST_SHARD = 100_000
# Settings of each size that differ from the defaults of PretrainSettings, which are those of "full".
_SETTINGS: dict[Size, dict[str, Any]] = {
    "tiny": {"epochs": 1.0, "tokens_per_step": 4096, "tokens_at_once": 4096, "learning_rate": 3e-3},
    "small": {"epochs": 1.0, "tokens_per_step": 16_384, "tokens_at_once": 8192, "learning_rate": 3e-3},
    "full": {},
}
_VALIDATION_TOKENS: dict[Size, int] = {"tiny": 20_000, "small": 100_000, "full": 200_000}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--data", type=Path, action="append", default=[], metavar="PATH", help="file or folder of text; repeatable"
    )
    parser.add_argument("--output", type=nonempty_path, required=True, metavar="FOLDER", help="output folder")
    parser.add_argument(
        "--size",
        choices=("tiny", "small", "full"),
        help="size of the model: full (23.6M parameters; default on a GPU), small (1.6M; an hour on a CPU) or tiny "
        "(0.5M; minutes; default without a GPU)",
    )
    add_limit(parser, "documents")
    add_skip_bad(parser)
    parser.add_argument(
        "--hold-out", type=int, default=4, metavar="PERCENT", help="percentage of documents to hold out (default 4)"
    )
    parser.add_argument(
        "--tokenizer", type=Path, metavar="FILE", help="an existing tokenizer.json written by this command"
    )
    parser.add_argument(
        "--vocabulary",
        type=int,
        help="maximum number of tokens in the vocabulary (default 12288, small 4096, tiny 2048)",
    )
    parser.add_argument(
        "--context",
        type=int,
        help="context length, and tokens of a training window (default 2048, small 1024, tiny 256)",
    )
    parser.add_argument("--epochs", type=float, help="epochs over the text (default 4, small and tiny 1)")
    parser.add_argument("--steps", type=int, help="stop after this many steps (the learning-rate schedule ends there)")
    parser.add_argument("--tokens-per-step", type=int, help="tokens per step (default 65536, small 16384, tiny 4096)")
    parser.add_argument(
        "--tokens-at-once",
        type=int,
        help="tokens of one forward pass; determines memory (default 16384, small 8192, tiny 4096)",
    )
    parser.add_argument("--learning-rate", type=float, help="peak learning rate (default 0.001, small and tiny 0.003)")
    parser.add_argument(
        "--validation-tokens",
        type=int,
        help="evaluate on at most this many tokens (default 200000, small 100000, tiny 20000)",
    )
    parser.add_argument("--dtype", choices=WRITTEN_DTYPES, default="float16", help="precision of the written weights")
    parser.add_argument(
        "--shard-bytes",
        type=int,
        help="maximum size of a file of corpus, checkpoints and model, in bytes (default: no limit)",
    )
    parser.add_argument(
        "--max-seconds", type=float, help="stop after this many seconds; the same command continues the run"
    )
    parser.add_argument(
        "--checkpoint-seconds", type=float, default=120.0, help="seconds between checkpoints (default 120)"
    )
    add_seed(parser)
    add_device(parser)
    rare(parser, "--tokenizer", "--tokens-per-step", "--tokens-at-once", "--validation-tokens", "--shard-bytes")
    rare(parser, "--checkpoint-seconds", "--dtype")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Tokenise the text, train the decoder, write it, and print its figures."""
    from app.models.known_weights import KnownWeights
    from app.settings import Settings
    from app.training.pretraining.corpus import facts_json
    from app.training.pretraining.training import pretrain_decoder, validation_json
    from app.training.progress import warn_of_skipped
    from model.hardware.device import pick_device
    from model.training.folder_lock import exclusive_run
    from model.training.pretrain import PretrainProgress

    for name in _POSITIVE:
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be positive")
    if not 0 <= arguments.hold_out < 100:
        raise UsageError(f"--hold-out is {arguments.hold_out}: it must be a percentage from 0 to 99")
    if arguments.shard_bytes is not None and arguments.shard_bytes < _SMALLEST_SHARD:
        raise UsageError(f"--shard-bytes is {arguments.shard_bytes}: it must be at least {_SMALLEST_SHARD}")
    device = pick_device(device_name(arguments))
    size: Size = arguments.size or ("full" if device.type == "cuda" else "tiny")
    if arguments.size is None and size == "tiny":
        output.info(
            "no GPU: training the tiny configuration; --size full trains the full one, which takes days on a CPU"
        )
    recipe = _recipe(arguments, size)
    with output.progress() as bar, exclusive_run(arguments.output):

        def show(progress: PretrainProgress) -> None:
            bar.update("training steps", progress.step, progress.steps)
            bar.note(
                "training steps",
                f"loss {progress.loss:.3f}, {progress.tokens_per_second:,.0f} tokens/s, "
                f"{progress.matrix_share:.0%} of the matrix rate",
            )
            if (validation := progress.validation) is not None:
                output.info(
                    f"step {progress.step}: training loss {progress.loss:.3f}; held out: loss {validation.loss:.3f}, "
                    f"perplexity {validation.perplexity:.2f} per token, "
                    f"{_number(validation.byte_perplexity)} per byte; "
                    f"{progress.tokens_per_second:,.0f} tokens/s, {progress.matrix_share:.0%} of the matrix rate"
                )

        trained = pretrain_decoder(
            recipe,
            arguments.output,
            device=str(device),
            notify=output.info,
            reading=lambda done: bar.update("documents tokenised", done, None),
            progress=show,
        )
    if trained.files:
        KnownWeights(Settings.for_home(arguments.home).home_folder).forget(trained.folder)
    corpus, training = trained.corpus, trained.training
    if corpus is not None:
        warn_of_skipped(corpus.facts.skipped, output.info, "items")
    if not trained.finished:
        done = "tokenising" if training is None else f"step {training.step} of {training.steps}"
        output.info(f"--max-seconds: stopped at {done}; everything is saved, run the same command again to continue")
    if output.as_json:
        output.json(
            {
                "folder": str(trained.folder),
                "finished": trained.finished,
                "parameters": trained.parameters,
                "corpus": facts_json(corpus.facts) if corpus else None,
                "training": asdict(training) if training else None,
                "validation": validation_json(trained.validation),
                "files": list(trained.files),
            }
        )
        return EXIT_OK
    if trained.validation is not None:
        validation = trained.validation
        output.data(
            f"held out: loss {validation.loss:.4f}, perplexity {validation.perplexity:.3f} per token, "
            f"{_number(validation.byte_perplexity)} per byte ({validation.tokens:,} tokens)"
        )
    if trained.finished:
        output.data(f"model {trained.folder}")
    return EXIT_OK


def _recipe(arguments: argparse.Namespace, size: Size) -> PretrainRecipe:
    """Return the checked recipe. Raises UsageError, which names the invalid value."""
    import torch

    from app.training.pretraining.corpus import CorpusRecipe
    from app.training.pretraining.training import PretrainRecipe
    from model.errors import ModelError
    from model.training.pretrain import PretrainSettings
    from model.training.pretrain_shape import CONTEXT, VOCABULARY

    base = PretrainSettings(arguments.context or CONTEXT[size], **_SETTINGS[size])
    given = {
        "epochs": arguments.epochs,
        "max_steps": arguments.steps,
        "tokens_per_step": arguments.tokens_per_step,
        "tokens_at_once": arguments.tokens_at_once,
        "learning_rate": arguments.learning_rate,
        "seed": arguments.seed,
    }
    try:
        settings = replace(base, **{name: value for name, value in given.items() if value is not None})
    except ModelError as error:
        raise UsageError(str(error)) from error
    corpus = None
    if arguments.data:
        corpus = CorpusRecipe(
            tuple(arguments.data),
            arguments.vocabulary or VOCABULARY[size],
            limit=arguments.limit,
            hold_out=arguments.hold_out,
            skip_bad=arguments.skip_bad,
            tokenizer=arguments.tokenizer,
        )
        if arguments.shard_bytes is not None:
            corpus = replace(corpus, shard_bytes=arguments.shard_bytes)
    return PretrainRecipe(
        size,
        settings,
        corpus,
        dtype=getattr(torch, arguments.dtype),
        shard_bytes=arguments.shard_bytes,
        max_seconds=arguments.max_seconds,
        checkpoint_seconds=arguments.checkpoint_seconds,
        validation_tokens=arguments.validation_tokens or _VALIDATION_TOKENS[size],
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
