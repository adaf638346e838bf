"""Generate a question set from a collection, review one, or import one from logs.

``plumbline questions make COLLECTION --n 200 --output questions.jsonl`` writes questions with reference answers and
their evidence. ``plumbline questions review FILE`` shows them one by one, to keep, edit or drop. ``plumbline questions
import LOG --output FILE`` imports questions from logs. See docs/question_sets.md.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from app.console import Output

_ACTIONS = ("make", "review", "import")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of every action."""
    common = argparse.ArgumentParser(add_help=False)
    # Every command accepts these before or after ACTION. SUPPRESS keeps a default from overriding an earlier value.
    common.add_argument("--home", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document on stdout"
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name in _ACTIONS:
        module = importlib.import_module(f"app.commands.questions_{name}")
        text = (module.__doc__ or "").strip()
        sub = actions.add_parser(
            name,
            parents=[common],
            help=text.splitlines()[0],
            description=text,
        )
        module.add(sub)
        sub.set_defaults(act=module.run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    return int(arguments.act(arguments, output))
