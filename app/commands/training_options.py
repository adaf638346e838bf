"""Arguments that training commands share: what to go on from, how long to train; and what is wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.errors import UsageError

LONGEST_MINUTES = 100_000


def a_path(text: str) -> Path:
    """The type of paths: an empty one, of a shell variable that is not set, would be the folder one stands in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty: name a file or folder")
    return Path(text)


def add_start(parser: argparse._ActionsContainer, what: str) -> None:
    """--start and --start-share. what: the kinds of model, in words."""
    parser.add_argument("--start", type=a_path, metavar="FOLDER", help=f"go on from {what} (default MiniLM's layers)")
    parser.add_argument(
        "--start-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="so much of --start's weights in those written, the rest are the run's: their mean often does better on "
        "what neither saw; another share needs no new run (default 0)",
    )


def check_start(arguments: argparse.Namespace) -> None:
    """Raises UsageError for what is no share, and for a share of nothing."""
    if not 0 <= arguments.start_share <= 1:  # nor NaN
        raise UsageError(f"--start-share is {arguments.start_share}: it must be a share, in [0, 1]")
    if arguments.start_share and arguments.start is None:
        raise UsageError("--start-share is a share of --start's weights: name that folder too")


def add_layers(parser: argparse._ActionsContainer) -> None:
    """--layers."""
    parser.add_argument(
        "--layers",
        type=int,
        metavar="N",
        help="start from the lowest N of MiniLM's 6 layers: fewer are faster and weaker (default 6; a model of --start "
        "keeps its own)",
    )


def layers_setting(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The field num_layers of a recipe, where it was given. Raises UsageError for a number out of range or a start."""
    from model.checkpoints.minilm import MINILM_LAYERS

    if arguments.layers is None:
        return {}
    if not 1 <= arguments.layers <= MINILM_LAYERS:
        raise UsageError(f"--layers is {arguments.layers}: it must be from 1 to {MINILM_LAYERS}")
    if arguments.start is not None:
        raise UsageError("--layers is for a start from MiniLM: the model of --start keeps its own layers")
    return {"num_layers": arguments.layers}


def add_length(parser: argparse._ActionsContainer) -> None:
    """--epochs, --steps and --minutes."""
    parser.add_argument("--epochs", type=int, help="rounds through the rows (default 1)")
    parser.add_argument("--steps", type=int, help="stop after so many steps (the schedule ends there)")
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="train for so long, however many rounds that are: the learning rate falls with the clock (in place of "
        "--epochs and --steps; resumed, the run takes what is left)",
    )


def length_settings(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The fields of TrainSettings that they set. Raises UsageError for what cannot be meant."""
    if arguments.steps is not None and arguments.steps < 1:
        raise UsageError(f"--steps is {arguments.steps}: it must be at least 1")
    if arguments.minutes is None:
        epochs = 1 if arguments.epochs is None else arguments.epochs
        return {"epochs": epochs, "max_steps": arguments.steps}
    if not 0 < arguments.minutes <= LONGEST_MINUTES:  # nor NaN
        raise UsageError(f"--minutes is {arguments.minutes}: it must be above 0 and at most {LONGEST_MINUTES:,}")
    for name in ("epochs", "steps"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--minutes and --{name} both say how long to train: give one of them")
    return {"seconds": 60 * arguments.minutes}
