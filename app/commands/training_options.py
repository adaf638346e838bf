"""Arguments that training commands share: the model to start from, the length of training, and their checks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.errors import UsageError

LONGEST_MINUTES = 100_000


def nonempty_path(text: str) -> Path:
    """Parse a path. Rejects an empty one (of an unset shell variable), which would mean the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty: name a file or folder")
    return Path(text)


def add_start(parser: argparse._ActionsContainer, what: str) -> None:
    """Declare --start and --start-share. what: description of the allowed models."""
    parser.add_argument(
        "--start", type=nonempty_path, metavar="FOLDER", help=f"start from {what} (default: MiniLM's layers)"
    )
    parser.add_argument(
        "--start-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of --start's weights in the written weights, which are an average with the trained weights. The "
        "average often generalises better. Another share needs no new training (default 0)",
    )


def check_start(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an invalid share, or a share without --start."""
    if not 0 <= arguments.start_share <= 1:  # rejects NaN too
        raise UsageError(f"--start-share is {arguments.start_share}: it must be a share, in [0, 1]")
    if arguments.start_share and arguments.start is None:
        raise UsageError("--start-share needs --start: name that folder too")


def add_layers(parser: argparse._ActionsContainer) -> None:
    """Declare --layers."""
    parser.add_argument(
        "--layers",
        type=int,
        metavar="N",
        help="start from the lowest N of MiniLM's 6 layers; fewer layers are faster and weaker (default 6; a model of "
        "--start keeps its layers)",
    )


def layers_setting(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """Return the field num_layers of a recipe if --layers was given.

    Raises UsageError for a number out of range, or together with --start.
    """
    from model.checkpoints.minilm import MINILM_LAYERS

    if arguments.layers is None:
        return {}
    if not 1 <= arguments.layers <= MINILM_LAYERS:
        raise UsageError(f"--layers is {arguments.layers}: it must be from 1 to {MINILM_LAYERS}")
    if arguments.start is not None:
        raise UsageError("--layers applies only to a start from MiniLM: the model of --start keeps its own layers")
    return {"num_layers": arguments.layers}


def add_length(parser: argparse._ActionsContainer) -> None:
    """Declare --epochs, --steps and --minutes."""
    parser.add_argument("--epochs", type=int, help="epochs over the rows (default 1)")
    parser.add_argument("--steps", type=int, help="stop after this many steps (the learning-rate schedule ends there)")
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="train for this many minutes instead of --epochs and --steps. The learning-rate schedule follows the "
        "clock. A resumed run has the remaining time",
    )


def length_settings(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """Return the fields of TrainSettings that the arguments set. Raises UsageError for invalid values."""
    if arguments.steps is not None and arguments.steps < 1:
        raise UsageError(f"--steps is {arguments.steps}: it must be at least 1")
    if arguments.minutes is None:
        epochs = 1 if arguments.epochs is None else arguments.epochs
        return {"epochs": epochs, "max_steps": arguments.steps}
    if not 0 < arguments.minutes <= LONGEST_MINUTES:  # rejects NaN too
        raise UsageError(f"--minutes is {arguments.minutes}: it must be above 0 and at most {LONGEST_MINUTES:,}")
    for name in ("epochs", "steps"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--minutes and --{name} both set the length of training: give one of them")
    return {"seconds": 60 * arguments.minutes}
