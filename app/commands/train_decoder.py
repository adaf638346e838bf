"""Fine-tune a decoder checkpoint to answer from passages, on your own questions.

``plumbline train decoder --model FOLDER --data FILE --output FOLDER`` fine-tunes a Hugging Face checkpoint of the Llama
architecture, such as one written by ``plumbline train pretrain``. It reads the same files as ``plumbline train
reader``. Each row has the prompt of ``plumbline query --model``: instructions, several numbered passages including
distractors, and the question. The target is the answer with its citation, or a statement that the documents do not
answer. Articles are held out for scoring. The same command continues an interrupted run.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from app.commands.choices import WRITTEN_DTYPES
from app.commands.options import device_name
from app.commands.reading_options import (
    add_rows,
    add_run,
    add_sources,
    check_reading,
    recipe_fields,
    row_mix,
    run_settings,
)
from app.commands.training_options import nonempty_path
from app.console import Output
from app.errors import EXIT_OK, UsageError
from app.models.shipped_decoder import decoder_folder
from app.training.reader.figures import print_scores


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--model", type=Path, required=True, metavar="FOLDER", help="checkpoint to start from")
    add_sources(parser, made=0)
    parser.add_argument(
        "--output", type=nonempty_path, required=True, metavar="FOLDER", help="folder of the model and its checkpoints"
    )
    parser.add_argument("--context", type=int, help="maximum number of tokens in a row (default: the checkpoint's)")
    parser.add_argument("--chunks", type=int, default=6, help="maximum number of passages (default 6)")
    add_rows(parser, tokens=None)
    add_run(parser, at_once=16_384, rate=5e-4, development=300)
    parser.add_argument("--dtype", choices=WRITTEN_DTYPES, default="float16", help="precision of the written weights")
    parser.add_argument("--shard-bytes", type=int, help="maximum size of a weight file, in bytes (default: no limit)")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Train the decoder, write and score it, and print the scores."""
    import torch

    from app.models.known_tokenizers import check_tokenizer
    from app.models.known_weights import KnownWeights
    from app.settings import Settings
    from app.training.decoder.training import DecoderRecipe, train_decoder
    from app.training.progress import TrainingProgress, warn_if_collapsed, warn_of_skipped
    from generation.errors import GenerationError
    from model.errors import ModelError
    from model.training.folder_lock import exclusive_run

    check_reading(arguments, "context", "shard_bytes")
    base = DecoderRecipe(
        decoder_folder(arguments.model, Settings.for_home(arguments.home).home_folder), tuple(arguments.data)
    )
    try:
        settings = replace(base.settings, **run_settings(arguments))
        mix = replace(base.mix, **row_mix(arguments), max_chunks=arguments.chunks)
    except (ModelError, GenerationError) as error:
        raise UsageError(str(error)) from error
    recipe = replace(
        base,
        context=arguments.context,
        dtype=getattr(torch, arguments.dtype),
        shard_bytes=arguments.shard_bytes,
        mix=mix,
        settings=settings,
        **recipe_fields(arguments),
    )
    check_tokenizer(recipe.model, Settings.for_home(arguments.home).home_folder)
    with output.progress() as bar, exclusive_run(arguments.output):
        trained = train_decoder(
            recipe,
            arguments.output,
            device=device_name(arguments),
            notify=output.info,
            progress=TrainingProgress(bar, output.info),
            scoring=lambda done, total: bar.update("scoring", done, total),
        )
    KnownWeights(Settings.for_home(arguments.home).home_folder).forget(trained.folder)
    warn_if_collapsed(trained.training, output.info)
    warn_of_skipped(trained.skipped, output.info)
    if output.as_json:
        output.json(
            {
                "folder": str(trained.folder),
                "rows": trained.rows,
                "skipped": len(trained.skipped),
                "training": asdict(trained.training),
                "scores": [asdict(score) for score in trained.scores],
                "files": list(trained.files),
            }
        )
        return EXIT_OK
    print_scores(trained.scores, output)
    output.data(f"model {trained.folder}")
    return EXIT_OK
