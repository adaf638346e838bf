"""Ask for confirmation before deleting something."""

from __future__ import annotations

import argparse
import sys

from app.console import Output
from app.errors import UsageError


def add_yes(parser: argparse.ArgumentParser) -> None:
    """--yes."""
    parser.add_argument("--yes", "-y", action="store_true", help="delete without asking")


def confirmed(what: str, yes: bool, output: Output) -> bool:
    """Whether to delete ``what`` ("the run 3f2a"): asks on the terminal unless ``yes``.

    Raises UsageError without a terminal.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(f"deleting {what} needs a confirmation, and there is no terminal to ask on: add --yes")
    output.say(f"Delete {what} permanently? [y/N]")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    output.say("nothing was deleted")
    return False
