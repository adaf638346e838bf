"""Print the prompt template (show), or check your own template file (check).

``plumbline prompts show`` prints the default template, which you can copy and change. ``plumbline prompts show FILE``
prints the messages that another template produces, for an example with passages and without. ``plumbline prompts check
FILE`` checks whether a template can be used. ``--prompt FILE`` (PLUMBLINE_PROMPT) uses it. Its SHA-256 is part of the
generator that every run records.

Templates are Jinja with the variables ``question``, ``passages`` (each has ``number``, ``title``, ``text``) and
``instructions`` (those of the caller, often empty), in the blocks ``system`` and ``user``. A template can only print
and test these variables and loop over them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app.commands.parser import add_nested
from app.console import Output
from app.errors import EXIT_OK

_SHOW = """Print the default template, or the messages that the template in FILE produces.

Without FILE the template is printed, so that you can copy and change it. With FILE the messages of an example are
printed, with passages and without."""
_CHECK = "Check whether the template in FILE can be used, and print its SHA-256."
_QUESTION = "How long is the warranty?"
_PASSAGES = (("Warranty", "The warranty lasts for three years."), ("Repairs", "Repairs take two weeks."))


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    add_nested(parser, "what", (("show", _SHOW, _add_file), ("check", _CHECK, _add_file)))


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, nargs="?", default=None, metavar="FILE", help="template (default: the default template)"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Print or check a template."""
    from generation.budget import FittedChunk
    from generation.causal.prompt_template import default_prompt, read_prompt
    from retrieval.chunking.chunks import Chunk, RetrievedChunk

    template = default_prompt() if arguments.file is None else read_prompt(arguments.file)
    shown = [
        FittedChunk(RetrievedChunk(Chunk(title, 0, len(text), text, title), 1.0, rank), len(text))
        for rank, (title, text) in enumerate(_PASSAGES, start=1)
    ]
    examples = {
        name: template.turns(_QUESTION, passages)
        for name, passages in (("with passages", shown), ("without passages", ()))
    }
    if output.as_json:
        turns = {name: {"system": example.system, "user": example.user} for name, example in examples.items()}
        output.json({"name": template.name, "sha256": template.sha256, "template": template.text, "examples": turns})
        return EXIT_OK
    if arguments.what == "check":
        output.data(f"{template.name}: usable, SHA-256 {template.sha256}")
        return EXIT_OK
    if arguments.file is None:
        output.data(template.text.rstrip("\n"))
        return EXIT_OK
    for name, example in examples.items():
        output.data(f"--- {name}: system\n{example.system}\n--- {name}: user\n{example.user}\n")
    return EXIT_OK
