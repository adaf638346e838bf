"""Evaluate a model on a file (eval), check that a checkpoint is computed exactly (check), or fetch a model (add).

``plumbline model WHAT --help`` describes the input and output of each.
"""

from __future__ import annotations

import argparse
import importlib

from app.commands.parser import add_nested
from app.console import Output

# Each is a module app.commands.model_NAME with add and run, imported only to declare its arguments.
WHAT = ("eval", "check", "add")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the nested commands."""
    modules = {name: importlib.import_module(f"app.commands.model_{name}") for name in WHAT}
    add_nested(
        parser, "what", [(name, module.__doc__ or "", module.add) for name, module in modules.items()], metavar="WHAT"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the nested command."""
    return int(importlib.import_module(f"app.commands.model_{arguments.what}").run(arguments, output))
