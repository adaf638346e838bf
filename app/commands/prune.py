"""Delete stored queries that are older than an age: questions and answers, for good.

``plumbline prune --older-than 90d`` does it once; with PLUMBLINE_KEEP_QUERIES_DAYS=90 the worker of ``plumbline serve``
does it every hour. By default they are kept.
"""

from __future__ import annotations

import argparse

from app.commands.parser import renamed
from app.console import Output
from app.errors import EXIT_OK, UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    age = parser.add_argument("--older-than", metavar="AGE", help="an age such as 12h, 90d or 4w; required")
    renamed(parser, "--queries", age)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Delete, and say how many."""
    from app.commands.options import open_pipeline
    from app.home.query_age import parse_age, prune_queries

    if arguments.older_than is None:
        raise UsageError("name an age: --older-than 90d")
    age = parse_age(arguments.older_than)
    with open_pipeline(arguments) as pipeline:
        count = prune_queries(pipeline.store, age)
    if output.as_json:
        output.json({"deleted": count})
    else:
        output.say(f"deleted {count} stored queries older than {arguments.older_than}")
    return EXIT_OK
