"""Train the embedded reader on your own questions and passages.

``plumbline train reader --data FILE --output FOLDER`` reads JSONL (also .gz, .bz2) of {"question", "context",
"answers", "answerable", "title", "source"}. Instead of context and title a line may have {"excerpt": {"document",
"start", "end", "sha256"}}, a span of a document of --texts. SQuAD's JSON (v1.1, v2.0) is detected by its content.
Articles are held out for scoring. The same command continues an interrupted run.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

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
from app.commands.training_options import add_layers, add_start, check_start, layers_setting, nonempty_path
from app.console import Output
from app.errors import EXIT_OK, UsageError
from app.training.reader.figures import print_scores

if TYPE_CHECKING:
    from app.training.reader.training import ReaderRecipe


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_sources(parser, made=40_000)
    parser.add_argument(
        "--plain", action="store_true", help="train the original network, without match marks and copy continuation"
    )
    add_layers(parser)
    add_start(parser, "this reader")
    parser.add_argument(
        "--decline-rows",
        type=int,
        default=8000,
        metavar="N",
        help="number of rows on which declining is fitted after training; the fit of --start is kept if it is better "
        "on other articles (default 8000; 0: no fit)",
    )
    parser.add_argument(
        "--only-decline",
        action="store_true",
        help="only fit the declining of the reader of --start again, without training",
    )
    parser.add_argument(
        "--output", type=nonempty_path, required=True, metavar="FOLDER", help="folder of the reader and its checkpoints"
    )
    add_rows(parser, tokens=4_600_000)
    add_run(parser, at_once=8000, rate=3e-4, development=600)


def reader_recipe(arguments: argparse.Namespace) -> ReaderRecipe:
    """Return the recipe of the arguments. Raises UsageError for values that are out of range or contradictory."""
    from app.training.reader.training import ReaderRecipe
    from generation.errors import GenerationError
    from model.errors import ModelError

    check_reading(arguments)
    check_start(arguments)
    layers = layers_setting(arguments)
    _check_decline(arguments)
    base = ReaderRecipe(tuple(arguments.data))
    try:
        settings = replace(base.settings, **run_settings(arguments))
        mix = replace(base.mix, **row_mix(arguments))
    except (ModelError, GenerationError) as error:
        raise UsageError(str(error)) from error
    return replace(
        base,
        start=arguments.start,
        start_share=arguments.start_share,
        plain=arguments.plain,
        decline_rows=arguments.decline_rows,
        only_decline=arguments.only_decline,
        mix=mix,
        settings=settings,
        **layers,
        **recipe_fields(arguments),
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Train the reader, write and score it, and print the scores."""
    from app.training.progress import TrainingProgress, warn_if_collapsed, warn_of_skipped
    from app.training.reader.training import train_reader
    from model.training.folder_lock import exclusive_run

    recipe = reader_recipe(arguments)
    with output.progress() as bar, exclusive_run(arguments.output):
        trained = train_reader(
            recipe,
            arguments.output,
            device=device_name(arguments),
            notify=output.info,
            progress=TrainingProgress(bar, output.info),
            reading=lambda done, total: bar.update("reading rows again", done, total),
            scoring=lambda done, total: bar.update("scoring", done, total),
        )
    if trained.training is not None:
        warn_if_collapsed(trained.training, output.info)
    warn_of_skipped(trained.skipped, output.info)
    if output.as_json:
        output.json(
            {
                "folder": str(trained.folder),
                "rows": trained.rows,
                "skipped": len(trained.skipped),
                "training": asdict(trained.training) if trained.training else None,
                "declining": asdict(trained.declining) if trained.declining else None,
                "calibration": asdict(trained.calibration) if trained.calibration else None,
                "scores": [asdict(score) for score in trained.scores],
            }
        )
        return EXIT_OK
    if trained.calibration:
        output.info(
            "temperature and refusal threshold were chosen on these articles: the refusal figures are optimistic"
        )
    print_scores(trained.scores, output)
    output.data(f"reader {trained.folder}")
    return EXIT_OK


def _check_decline(arguments: argparse.Namespace) -> None:
    """Raise UsageError for invalid values of --decline-rows and --only-decline."""
    if arguments.decline_rows < 0:
        raise UsageError(f"--decline-rows is {arguments.decline_rows}: it must not be negative")
    if not arguments.only_decline:
        return
    if arguments.start is None:
        raise UsageError("--only-decline needs a trained reader: name its folder with --start")
    if not arguments.decline_rows:
        raise UsageError("--only-decline with --decline-rows 0 does nothing: give at least one row")
    for name in ("steps", "epochs", "minutes", "start_share"):
        if getattr(arguments, name):
            raise UsageError(f"--only-decline does not train: omit --{name.replace('_', '-')}")
