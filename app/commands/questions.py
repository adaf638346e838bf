"""Generate a question set from a collection, review one, or import one from logs.

``plumbline questions make COLLECTION --n 200 --output questions.jsonl`` writes questions with reference answers and
their evidence. ``plumbline questions review FILE`` shows them one by one, to keep, edit or drop. ``plumbline questions
import LOG --output FILE`` imports questions from logs. See docs/question_sets.md.
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

from app.commands.parser import add_nested
from app.console import Output

_ACTIONS = ("make", "review", "import")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    modules = ((name, _module(name)) for name in _ACTIONS)
    add_nested(parser, "action", [(name, module.__doc__ or "", module.add) for name, module in modules])


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    return int(_module(arguments.action).run(arguments, output))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"app.commands.questions_{name}")
