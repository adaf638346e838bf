"""Train the embedded reader on your own questions and passages.

``plumbline train reader --data FILE`` reads JSONL (also .gz, .bz2) of {"question", "context", "answers", "answerable",
"title", "source"}; in place of context and title a line may have {"excerpt": {"document", "start", "end", "sha256"}}, a
stretch of a document of --texts. Articles are held out to score on. The run may be killed and started again: it
resumes.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from app.commands.training_options import add_start, check_start
from app.console import Output
from app.errors import EXIT_OK, UsageError
from app.reading_figures import say_scores


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, action="append", required=True, metavar="FILE", help="may be repeated")
    parser.add_argument(
        "--closed-book",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="questions and answers, no passage",
    )
    parser.add_argument(
        "--texts",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="documents to make questions from by rule, and of questions that only name their passages",
    )
    parser.add_argument("--made", type=int, default=40_000, metavar="N", help="questions made by rule (default 40000)")
    parser.add_argument("--plain", action="store_true", help="the first readers' network: no marks, no following")
    parser.add_argument("--alone", type=float, default=0.35, help="share of rows with their own passage only")
    parser.add_argument("--repeats", type=int, default=2, help="rows of an answerable example (default 2)")
    add_start(parser, "this reader")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where reader and checkpoints go")
    parser.add_argument(
        "--hold-out", action="append", default=[], metavar="SOURCE", help="train on nothing of this source, score on it"
    )
    parser.add_argument("--limit", type=int, default=None, help="read only the first N examples of each file")
    parser.add_argument("--tokens", type=int, default=4_600_000, help="most tokens of passage rows (default 4600000)")
    parser.add_argument("--closed-book-rows", type=int, default=24_000, help="default 24000")
    parser.add_argument(
        "--near-misses",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="so many of the answerable examples also with a changed question, to be refused (default 0)",
    )
    parser.add_argument("--epochs", type=int, default=1, help="default 1")
    parser.add_argument("--steps", type=int, default=None, help="stop after so many steps (the schedule ends there)")
    parser.add_argument("--tokens-at-once", type=int, default=8000, help="of one batch: memory (default 8000)")
    parser.add_argument("--learning-rate", type=float, default=3e-4, help="default 0.0003")
    parser.add_argument("--development", type=int, default=600, help="examples to score on at the end (default 600)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default 0)")
    parser.add_argument("--skip-bad", action="store_true", help="leave bad lines out and count them")
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or auto")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Train, write, score, print."""
    from app.reader_training import ReaderRecipe, train_reader
    from app.training_progress import TrainingProgress, say_how_it_ended
    from generation.errors import GenerationError
    from model.device import pick_device
    from model.errors import ModelError
    from model.training.one_run import only_run

    for name in ("limit", "tokens", "steps"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} is {value}: it must be at least 1")
    for name in ("closed_book_rows", "development", "made"):
        if getattr(arguments, name) < 0:
            raise UsageError(f"--{name.replace('_', '-')} is {getattr(arguments, name)}: it must not be negative")
    if not 0 <= arguments.near_misses <= 1:
        raise UsageError(f"--near-misses is {arguments.near_misses}: it must be a share, in [0, 1]")
    check_start(arguments)
    base = ReaderRecipe(tuple(arguments.data))
    try:
        settings = replace(
            base.settings,
            learning_rate=arguments.learning_rate,
            epochs=arguments.epochs,
            tokens_per_batch=arguments.tokens_at_once,
            max_steps=arguments.steps,
            seed=arguments.seed,
        )
        mix = replace(base.mix, alone=arguments.alone, repeats=arguments.repeats)
    except (ModelError, GenerationError) as error:
        raise UsageError(str(error)) from error
    recipe = replace(
        base,
        closed_book=tuple(arguments.closed_book),
        tokens=arguments.tokens,
        closed_book_rows=arguments.closed_book_rows,
        near_misses=arguments.near_misses,
        start=arguments.start,
        start_share=arguments.start_share,
        texts=tuple(arguments.texts),
        made=arguments.made,
        plain=arguments.plain,
        mix=mix,
        hold_out=tuple(arguments.hold_out),
        limit=arguments.limit,
        skip_bad=arguments.skip_bad,
        development=arguments.development,
        settings=settings,
    )
    with output.progress() as bar, only_run(arguments.output):
        trained = train_reader(
            recipe,
            arguments.output,
            device=str(pick_device(arguments.device)),
            say=output.say,
            progress=TrainingProgress(bar, output.say),
            scoring=lambda done, total: bar.update("scoring", done, total),
        )
    say_how_it_ended(trained.training, output.say)
    if trained.skipped:
        output.say(f"{len(trained.skipped)} bad lines left out, the first: {trained.skipped[0]}")
    if output.as_json:
        output.json(
            {
                "folder": str(trained.folder),
                "rows": trained.rows,
                "skipped": len(trained.skipped),
                "training": asdict(trained.training),
                "calibration": asdict(trained.calibration) if trained.calibration else None,
                "scores": [asdict(score) for score in trained.scores],
            }
        )
        return EXIT_OK
    say_scores(trained.scores, output)
    output.data(f"reader {trained.folder}")
    return EXIT_OK
