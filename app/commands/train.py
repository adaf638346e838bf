"""Train a model on your own data: a reader, a verifier, a decoder from scratch, or an existing decoder.

``plumbline train WHAT``; ``plumbline train WHAT --help`` describes its input and output.
"""

from __future__ import annotations

import argparse
import importlib

from app.commands.parser import add_nested
from app.console import Output

# Each is a module app.commands.train_NAME with add and run, imported only to declare its arguments.
WHAT = ("reader", "verifier", "pretrain", "decoder")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of each."""
    modules = {name: importlib.import_module(f"app.commands.train_{name}") for name in WHAT}
    add_nested(
        parser, "what", [(name, module.__doc__ or "", module.add) for name, module in modules.items()], metavar="WHAT"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the named command."""
    return int(importlib.import_module(f"app.commands.train_{arguments.what}").run(arguments, output))
