"""Delete stored queries that are older than an age: questions and answers, for good.

``plumbline prune --queries 90d`` does it once; with PLUMBLINE_KEEP_QUERIES_DAYS=90 the worker of ``plumbline serve``
does it every hour. By default they are kept.
"""

from __future__ import annotations

import argparse

from app.console import Output
from app.errors import EXIT_OK


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--queries", required=True, metavar="AGE", help="those older than 12h, 90d, 4w are deleted")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Delete, and say how many."""
    from app.commands.options import open_pipeline
    from app.home.query_age import parse_age, prune_queries

    age = parse_age(arguments.queries)
    with open_pipeline(arguments) as pipeline:
        count = prune_queries(pipeline.store, age)
    if output.as_json:
        output.json({"deleted": count})
    else:
        output.say(f"deleted {count} stored queries older than {arguments.queries}")
    return EXIT_OK
