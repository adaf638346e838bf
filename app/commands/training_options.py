"""Arguments of the commands that go on from trained weights, and what is wrong with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.errors import UsageError


def add_start(parser: argparse.ArgumentParser, what: str) -> None:
    """--start and --start-share. what: the kinds of model, in words."""
    parser.add_argument("--start", type=Path, metavar="FOLDER", help=f"go on from {what} (default MiniLM's layers)")
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
