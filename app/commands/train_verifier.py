"""Train the embedded verifier on your own pairs of evidence and claim, and on claims made from your documents by rule.

``plumbline train verifier --data FILE`` reads JSONL (also .gz, .bz2) of {"evidence", "claim", "supported", "question",
"source", "group"}, or responses whose hallucinated words people marked, in RAGTruth's layout (a folder; its split
"train"), which are read sentence by sentence. Groups of other evidence are held out to calibrate and score on. The run
may be killed and started again: it resumes.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, replace
from pathlib import Path

from app.commands.training_options import add_start, check_start
from app.console import Output
from app.errors import EXIT_OK, UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, action="append", required=True, metavar="FILE", help="may be repeated")
    parser.add_argument(
        "--texts",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="documents to make claims from by rule, and of --reading's questions that only name their passages",
    )
    parser.add_argument("--made", type=int, default=30_000, metavar="N", help="claims made by rule (default 30000)")
    parser.add_argument(
        "--replies",
        type=int,
        default=0,
        metavar="N",
        help="turns of a conversation made by rule: what a text says, chattily put, and small talk that no text "
        "supports (default 0; some thousands where a chatty model is judged)",
    )
    parser.add_argument(
        "--reading",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="questions on passages (as for train reader), to make right and wrong short answers from",
    )
    parser.add_argument("--answers", type=int, default=12_000, metavar="N", help="short answers (default 12000)")
    add_start(parser, "this verifier, or from the layers of this reader")
    parser.add_argument(
        "--teacher",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="learn also from what this verifier says of each claim; may be repeated: their mean",
    )
    parser.add_argument(
        "--teacher-share",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="so much of a claim's target is the teachers', the rest its label's (default 0.5)",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where it and checkpoints go")
    parser.add_argument(
        "--hold-out",
        action="append",
        default=[],
        metavar="SOURCE",
        help="do not train on this source, score on it; NAME* for all that begin so, NAME:17%% for a part of its texts",
    )
    parser.add_argument("--limit", type=int, default=None, help="read only the first N pairs, or answers, of each file")
    parser.add_argument("--rows", type=int, default=None, help="labelled pairs at most, drawn at random (default all)")
    parser.add_argument("--source-cap", type=int, default=None, metavar="N", help="labelled pairs of a source at most")
    parser.add_argument("--window", type=int, default=300, help="tokens of evidence read at once (default 300)")
    parser.add_argument(
        "--number-lack",
        type=float,
        default=2.0,
        metavar="W",
        help="taken off the logit of a claim with a number that its evidence lacks (default 2; 0: not looked for)",
    )
    parser.add_argument(
        "--name-lack",
        type=float,
        default=1.0,
        metavar="W",
        help="the same for a name (default 1; give 0 where nouns have capitals, as in German)",
    )
    parser.add_argument(
        "--word-lack",
        type=float,
        default=0.5,
        metavar="W",
        help="the same for content words, times the share of them that the evidence lacks (default 0.5)",
    )
    parser.add_argument(
        "--question-lack",
        type=float,
        default=1.5,
        metavar="W",
        help="the same for a short answer, times the share of its question's words not around it (default 1.5)",
    )
    parser.add_argument(
        "--balance",
        type=float,
        default=None,
        metavar="R",
        help="supported pairs of a source at most, for each unsupported one of it (default all)",
    )
    parser.add_argument(
        "--windows",
        type=int,
        default=5,
        metavar="N",
        help="windows of a claim's evidence trained at most, those with most of its words (default 5)",
    )
    parser.add_argument(
        "--together",
        type=int,
        default=160,
        metavar="N",
        help="tokens of an answer's claims read together, where a file holds answers (default 160; 0: each alone)",
    )
    parser.add_argument(
        "--smaller",
        type=float,
        default=0.4,
        help="share of answers cut into smaller parts, so that it reads any number of claims (default 0.4)",
    )
    parser.add_argument(
        "--altered",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of answers that are read once more, against evidence altered by rule: numbers and names exchanged, "
        "attributes and hours of records, a sentence taken out (default 0)",
    )
    parser.add_argument("--strangers", type=float, default=0.12, help="share of rows with a stranger's window beside")
    parser.add_argument("--plain", action="store_true", help="a plain cross-encoder: no match marks, no worst word")
    parser.add_argument("--epochs", type=int, default=1, help="default 1")
    parser.add_argument("--steps", type=int, default=None, help="stop after so many steps (the schedule ends there)")
    parser.add_argument("--tokens-at-once", type=int, default=8000, help="of one batch: memory (default 8000)")
    parser.add_argument("--learning-rate", type=float, default=2e-4, help="default 0.0002")
    parser.add_argument("--development", type=int, default=4000, help="pairs to score on at the end (default 4000)")
    parser.add_argument(
        "--check",
        type=int,
        default=250,
        metavar="STEPS",
        help="say every so many steps how well it tells held-out claims (default 250; 0: never)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default 0)")
    parser.add_argument("--skip-bad", action="store_true", help="leave bad lines out and count them")
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or auto")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Train, write, calibrate, score, print."""
    from app.training_progress import TrainingProgress, say_how_it_ended
    from app.verifier_training import VerifierRecipe, train_verifier
    from evaluation.answer_rows import AnswerMix
    from evaluation.detection.support import SupportProgress
    from evaluation.errors import EvaluationError
    from evaluation.verifier_rows import WindowMix
    from model.device import pick_device
    from model.errors import ModelError
    from model.support_encoder import SupportFeatures
    from model.support_files import MOST_LACK, SupportUse
    from model.training.one_run import only_run

    for name in ("limit", "rows", "source_cap", "steps", "windows"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be at least 1")
    for name in ("made", "replies", "answers", "development", "check"):
        if getattr(arguments, name) < 0:
            raise UsageError(f"--{name} is {getattr(arguments, name)}: it must not be negative")
    for name in ("number_lack", "name_lack", "word_lack", "question_lack"):
        if not 0 <= (value := getattr(arguments, name)) <= MOST_LACK:  # nor NaN
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be a number from 0 to {MOST_LACK}")
    if arguments.balance is not None and not 0 < arguments.balance < math.inf:  # nor NaN
        raise UsageError(f"--balance is {arguments.balance}: it must be a positive number")
    if not 0 <= arguments.teacher_share <= 1:  # nor NaN
        raise UsageError(f"--teacher-share is {arguments.teacher_share}: it must be a share, in [0, 1]")
    if not 0 <= arguments.altered <= 1:  # nor NaN
        raise UsageError(f"--altered is {arguments.altered}: it must be a share from 0 to 1")
    if arguments.altered and not arguments.together:
        raise UsageError("--altered is of answers whose claims are read together: not with --together 0")
    check_start(arguments)
    base = VerifierRecipe(tuple(arguments.data))
    try:
        recipe = replace(
            base,
            texts=tuple(arguments.texts),
            made=arguments.made,
            replies=arguments.replies,
            reading=tuple(arguments.reading),
            answers=arguments.answers,
            rows=arguments.rows,
            source_cap=arguments.source_cap,
            balance=arguments.balance,
            hold_out=tuple(arguments.hold_out),
            start=arguments.start,
            start_share=arguments.start_share,
            teachers=tuple(arguments.teacher),
            teacher_share=arguments.teacher_share,
            limit=arguments.limit,
            skip_bad=arguments.skip_bad,
            development=arguments.development,
            check=arguments.check,
            features=SupportFeatures(marks=not arguments.plain, worst_word=not arguments.plain),
            use=SupportUse(
                arguments.window,
                number_lack=arguments.number_lack,
                name_lack=arguments.name_lack,
                word_lack=arguments.word_lack,
                question_lack=arguments.question_lack,
            ),
            windows=WindowMix(arguments.windows, arguments.strangers),
            together=AnswerMix(arguments.together, arguments.windows, arguments.smaller)
            if arguments.together
            else None,
            altered=arguments.altered,
            settings=replace(
                base.settings,
                learning_rate=arguments.learning_rate,
                epochs=arguments.epochs,
                tokens_per_batch=arguments.tokens_at_once,
                max_steps=arguments.steps,
                seed=arguments.seed,
            ),
        )
    except (ModelError, EvaluationError) as error:
        raise UsageError(str(error)) from error
    with output.progress() as bar, only_run(arguments.output):

        def scoring(progress: SupportProgress) -> None:
            bar.update("scoring", progress.statements, progress.total)

        trained = train_verifier(
            recipe,
            arguments.output,
            device=str(pick_device(arguments.device)),
            say=output.say,
            progress=TrainingProgress(bar, output.say),
            scoring=scoring,
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
                "development": asdict(trained.development) if trained.development else None,
                "unseen": asdict(trained.unseen) if trained.unseen else None,
            }
        )
        return EXIT_OK
    for name, report in (("development", trained.development), ("unseen", trained.unseen)):
        for found in report.table.sources if report else ():
            scores = found.scores
            output.data(
                f"{name} {found.source}: AUROC {_percent(scores.auroc.estimate)}, balanced accuracy "
                f"{_percent(scores.balanced_accuracy.estimate)}, F1 of hallucinated "
                f"{_percent(scores.f1_hallucinated.estimate)}, calibration error "
                f"{_percent(scores.calibration_error.estimate)}; {scores.n} pairs"
            )
        if report:
            output.data(f"{name}: macro AUROC {_percent(report.table.macro_auroc.estimate)}")
    output.data(f"verifier {trained.folder}")
    return EXIT_OK


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"
