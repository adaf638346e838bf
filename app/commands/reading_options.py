"""Arguments that `train reader` and `train decoder` share: what is read, what is made, what is held out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.commands.options import add_device, add_limit, add_seed, add_skip_bad
from app.commands.parser import rare, renamed
from app.commands.training_options import add_length, length_settings
from app.errors import UsageError


def add_sources(parser: argparse.ArgumentParser, *, made: int) -> None:
    """Which questions and documents. made: the default of --made."""
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
    synthetic = parser.add_argument(
        "--synthetic", dest="made", type=int, default=made, metavar="N", help=f"questions made by rule (default {made})"
    )
    renamed(parser, "--made", synthetic)


def add_rows(parser: argparse.ArgumentParser, *, tokens: int | None) -> None:
    """Which rows are made of them. tokens: the default of --tokens, None for all."""
    own = parser.add_argument(
        "--own-passage",
        dest="alone",
        type=float,
        default=0.35,
        metavar="SHARE",
        help="share of rows with their own passage only (default 0.35)",
    )
    renamed(parser, "--alone", own)
    parser.add_argument(
        "--whole",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="so many of these with all chunks of the passage, the others with the one that answers (default 0.5)",
    )
    parser.add_argument("--repeats", type=int, default=2, help="rows of an answerable example (default 2)")
    parser.add_argument(
        "--hold-out", action="append", default=[], metavar="SOURCE", help="train on nothing of this source, score on it"
    )
    add_limit(parser, "examples of each file")
    parser.add_argument(
        "--tokens", type=int, default=tokens, help=f"most tokens of passage rows (default {tokens or 'all'})"
    )
    parser.add_argument("--closed-book-rows", type=int, default=24_000, help="default 24000")
    parser.add_argument(
        "--near-misses",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="so many of the answerable examples also with a changed question, to be refused (default 0)",
    )
    rare(parser, "--own-passage", "--whole", "--repeats", "--closed-book-rows", "--near-misses")


def add_run(parser: argparse.ArgumentParser, *, at_once: int, rate: float, development: int) -> None:
    """How it is trained and scored: the defaults of --tokens-at-once, --learning-rate and --development."""
    add_length(parser)
    parser.add_argument("--tokens-at-once", type=int, default=at_once, help=f"of one batch: memory (default {at_once})")
    parser.add_argument("--learning-rate", type=float, default=rate, help=f"default {rate:g}")
    parser.add_argument(
        "--development", type=int, default=development, help=f"examples to score on at the end (default {development})"
    )
    add_seed(parser)
    add_skip_bad(parser)
    add_device(parser)


def check_reading(arguments: argparse.Namespace, *more: str) -> None:
    """Raises UsageError naming what cannot be meant. more: further arguments that must be at least 1 where given."""
    for name in ("limit", "tokens", *more):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be at least 1")
    for name in ("closed_book_rows", "development", "made"):
        if getattr(arguments, name) < 0:
            flag = "synthetic" if name == "made" else name.replace("_", "-")
            raise UsageError(f"--{flag} is {getattr(arguments, name)}: it must not be negative")
    if not 0 <= arguments.near_misses <= 1:  # nor NaN
        raise UsageError(f"--near-misses is {arguments.near_misses}: it must be a share, in [0, 1]")


def run_settings(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The fields of TrainSettings that the arguments set. Raises UsageError as length_settings does."""
    return {
        "learning_rate": arguments.learning_rate,
        "tokens_per_batch": arguments.tokens_at_once,
        "seed": arguments.seed,
        **length_settings(arguments),
    }


def row_mix(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The fields of RowMix that the arguments of add_rows set."""
    return {name: getattr(arguments, name) for name in ("alone", "whole", "repeats")}


def recipe_fields(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The fields that both recipes have and the arguments set, but for ``reading``, ``mix`` and ``settings``."""
    lists = {name: tuple(getattr(arguments, name)) for name in ("closed_book", "texts", "hold_out")}
    plain = ("made", "tokens", "closed_book_rows", "near_misses", "limit", "skip_bad", "development")
    return {**lists, **{name: getattr(arguments, name) for name in plain}}
