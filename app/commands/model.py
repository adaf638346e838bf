"""Models: how good one is on a file (eval), whether a checkpoint is computed exactly (check), fetching one (add).

``plumbline model WHAT``; ``plumbline model WHAT --help`` says what each reads and prints.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from app.console import Output

# Each is a module app.commands.model_NAME with add and run, imported for its arguments only.
WHAT = ("eval", "check", "add")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of each."""
    common = argparse.ArgumentParser(add_help=False)
    # Every command takes these, before or after WHAT: suppressed, so that the default does not undo what stood before.
    common.add_argument("--home", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document on stdout"
    )
    subparsers = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name in WHAT:
        module = importlib.import_module(f"app.commands.model_{name}")
        text = (module.__doc__ or "").strip()
        sub = subparsers.add_parser(
            name,
            parents=[common],
            help=text.splitlines()[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add(sub)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Hand over to the one that was named."""
    return int(importlib.import_module(f"app.commands.model_{arguments.what}").run(arguments, output))
