"""Arguments of ``train verifier``, and the function that builds a recipe from them."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.options import add_device, add_seed
from app.commands.parser import rare, renamed
from app.commands.training_options import (
    add_layers,
    add_length,
    add_start,
    check_start,
    layers_setting,
    length_settings,
    nonempty_path,
)
from app.commands.verifier_rows_options import RENAMED, ROW_OPTIONS, add_rows, checked_row_options
from app.errors import UsageError

if TYPE_CHECKING:
    from app.training.verifier.recipe import VerifierRecipe


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_rows(parser.add_argument_group("rows", "training data"))
    add_run(parser.add_argument_group("training"))


def add_run(group: argparse._ArgumentGroup) -> None:
    """Declare the arguments of the training run."""
    add_layers(group)
    add_start(group, "this verifier, or from the layers of this reader")
    group.add_argument(
        "--mix",
        action="append",
        default=[],
        metavar="FOLDER=SHARE",
        help="share of this verifier's weights in the written weights, in addition to --start-share; repeatable. The "
        "average of runs with a common start is often better",
    )
    group.add_argument(
        "--teacher",
        type=nonempty_path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="also learn from this verifier's scores (distillation); repeatable, then from the mean of the scores",
    )
    group.add_argument(
        "--teacher-share",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="weight of the teachers in a claim's target; its label has the remaining weight (default 0.5)",
    )
    no_distill = group.add_argument(
        "--no-distill",
        dest="not_taught",
        action="append",
        default=[],
        metavar="SOURCE",
        help="no distillation on rows of this source (NAME* for a prefix); repeatable",
    )
    renamed(group, "--not-taught", no_distill)
    group.add_argument(
        "--output", type=nonempty_path, metavar="FOLDER", help="folder of the verifier and its checkpoints"
    )
    number_penalty = group.add_argument(
        "--number-penalty",
        dest="number_lack",
        type=float,
        default=2.0,
        metavar="W",
        help="amount that is subtracted from the logit of a claim with a number that its evidence lacks (default 2; 0: "
        "not checked)",
    )
    renamed(group, "--number-lack", number_penalty)
    name_penalty = group.add_argument(
        "--name-penalty",
        dest="name_lack",
        type=float,
        default=1.0,
        metavar="W",
        help="the same for a name (default 1; use 0 for languages that capitalise nouns, such as German)",
    )
    renamed(group, "--name-lack", name_penalty)
    word_penalty = group.add_argument(
        "--word-penalty",
        dest="word_lack",
        type=float,
        default=0.5,
        metavar="W",
        help="the same for content words, times the share of them that the evidence lacks (default 0.5)",
    )
    renamed(group, "--word-lack", word_penalty)
    question_penalty = group.add_argument(
        "--question-penalty",
        dest="question_lack",
        type=float,
        default=1.5,
        metavar="W",
        help="the same for a short answer, times the share of its question's words that are missing around it "
        "(default 1.5)",
    )
    renamed(group, "--question-lack", question_penalty)
    group.add_argument(
        "--plain",
        action="store_true",
        help="train a plain cross-encoder, without match marks and worst-word head",
    )
    add_length(group)
    group.add_argument(
        "--tokens-at-once", type=int, default=8000, help="tokens of one batch; determines memory (default 8000)"
    )
    group.add_argument("--learning-rate", type=float, default=2e-4, help="learning rate (default 0.0002)")
    group.add_argument(
        "--development", type=int, default=4000, help="maximum number of pairs to score on at the end (default 4000)"
    )
    group.add_argument(
        "--check",
        type=int,
        default=250,
        metavar="STEPS",
        help="score held-out claims every N steps (default 250; 0: never)",
    )
    add_seed(group)
    add_device(group)
    rare(group, "--layers", "--mix", "--teacher", "--teacher-share", "--no-distill", "--check", "--plain")
    rare(group, "--number-penalty", "--name-penalty", "--word-penalty", "--question-penalty", "--tokens-at-once")


def verifier_recipe(arguments: argparse.Namespace) -> VerifierRecipe:
    """Return the recipe of the arguments. Raises UsageError for invalid values."""
    from app.training.verifier.recipe import VerifierRecipe
    from evaluation.errors import EvaluationError
    from evaluation.training_examples.answer_rows import AnswerMix
    from evaluation.training_examples.verifier_rows import WindowMix
    from model.errors import ModelError
    from model.verifier.encoder import SupportFeatures
    from model.verifier.files import SupportUse

    row_options = checked_row_options(arguments)
    _check(arguments, row_options)
    base = VerifierRecipe(tuple(row_options.data))
    try:
        return replace(
            base,
            texts=tuple(row_options.texts),
            made=row_options.made,
            replies=row_options.replies,
            reading=tuple(row_options.reading),
            answers=row_options.answers,
            rows=row_options.rows,
            source_cap=row_options.source_cap,
            balance=row_options.balance,
            hold_out=tuple(row_options.hold_out),
            limit=row_options.limit,
            skip_bad=row_options.skip_bad,
            rows_from=tuple(arguments.rows_from),
            start=arguments.start,
            start_share=arguments.start_share,
            mix=tuple(_share(part) for part in arguments.mix),
            teachers=tuple(arguments.teacher),
            teacher_share=arguments.teacher_share,
            not_taught=tuple(arguments.not_taught),
            development=arguments.development,
            check=arguments.check,
            **layers_setting(arguments),
            features=SupportFeatures(marks=not arguments.plain, worst_word=not arguments.plain),
            use=SupportUse(
                row_options.window,
                number_lack=arguments.number_lack,
                name_lack=arguments.name_lack,
                word_lack=arguments.word_lack,
                question_lack=arguments.question_lack,
            ),
            windows=WindowMix(row_options.windows, row_options.strangers),
            together=AnswerMix(row_options.together, row_options.windows, row_options.smaller)
            if row_options.together
            else None,
            altered=row_options.altered,
            settings=replace(
                base.settings,
                learning_rate=arguments.learning_rate,
                tokens_per_batch=arguments.tokens_at_once,
                seed=arguments.seed,
                **length_settings(arguments),
            ),
        )
    except (ModelError, EvaluationError) as error:
        raise UsageError(str(error)) from error


def _check(arguments: argparse.Namespace, row_options: argparse.Namespace) -> None:
    """Raise UsageError, which names the option, for an invalid number."""
    from model.verifier.files import MOST_LACK

    for name in ("limit", "rows", "source_cap", "windows"):
        value = getattr(row_options, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be at least 1")
    for name in ("made", "replies", "answers", "development", "check"):
        if (value := getattr(row_options if name in ROW_OPTIONS else arguments, name)) < 0:
            flag = RENAMED.get(name, name)
            raise UsageError(f"--{flag} is {value}: it must not be negative")
    for name in ("number_lack", "name_lack", "word_lack", "question_lack"):
        if not 0 <= (value := getattr(arguments, name)) <= MOST_LACK:  # rejects NaN too
            flag = f"--{name.removesuffix('_lack')}-penalty"
            raise UsageError(f"{flag} is {value}: it must be a number from 0 to {MOST_LACK}")
    if row_options.balance is not None and not 0 < row_options.balance < math.inf:  # rejects NaN too
        raise UsageError(f"--balance is {row_options.balance}: it must be a positive number")
    if not 0 <= arguments.teacher_share <= 1:  # rejects NaN too
        raise UsageError(f"--teacher-share is {arguments.teacher_share}: it must be a share, in [0, 1]")
    if arguments.not_taught and not arguments.teacher:
        raise UsageError("--no-distill excludes sources from distillation: give a --teacher, too")
    if not 0 <= row_options.altered <= 1:  # rejects NaN too
        raise UsageError(f"--altered is {row_options.altered}: it must be a share from 0 to 1")
    if row_options.altered and not row_options.together:
        raise UsageError("--altered needs answers whose claims are read together: omit it, or omit --joint-tokens 0")
    check_start(arguments)
    if (most := arguments.start_share + sum(_share(part)[1] for part in arguments.mix)) > 1 + 1e-9:
        raise UsageError(f"--start-share and the shares of --mix add up to {most:g}: they must not exceed 1")


def _share(text: str) -> tuple[Path, float]:
    """Parse FOLDER=SHARE. Raises UsageError for other texts."""
    folder, _, share = text.rpartition("=")
    try:
        value = float(share)
    except ValueError:
        value = math.nan
    if not folder or not 0 <= value <= 1:  # rejects NaN too
        raise UsageError(f"--mix is {text!r}: it must be FOLDER=SHARE, the share in [0, 1]")
    return Path(folder), value
