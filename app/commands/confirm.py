"""Ask for confirmation before deleting something."""

from __future__ import annotations

import argparse
import sys

from app.console import Output
from app.errors import UsageError


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Declare --yes."""
    parser.add_argument("--yes", "-y", action="store_true", help="delete without asking")


def confirmed(what: str, yes: bool, output: Output) -> bool:
    """Return whether to delete something, and ask on the terminal unless ``yes``.

    what: the object, such as "the run 3f2a". Raises UsageError if there is no terminal to ask on.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(f"deleting {what} needs a confirmation, and there is no terminal to ask on: add --yes")
    output.info(f"Delete {what} permanently? [y/N]")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    output.info("nothing was deleted")
    return False
