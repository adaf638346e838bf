"""Delete stored queries older than a given age, with their answers, permanently.

The texts of audited answers (PLUMBLINE_AUDIT_RATE) of that age are deleted, too; their labels and figures stay.
``plumbline prune --older-than 90d`` runs once. With PLUMBLINE_KEEP_QUERIES_DAYS=90 the worker of ``plumbline serve``
prunes every hour. By default queries are kept.
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
    """Delete, and print how many."""
    from app.commands.options import open_pipeline
    from app.home.query_age import parse_age, prune_audits, prune_queries

    if arguments.older_than is None:
        raise UsageError("give an age: --older-than 90d")
    age = parse_age(arguments.older_than)
    with open_pipeline(arguments) as pipeline:
        count = prune_queries(pipeline.store, age)
        audited = prune_audits(pipeline.store, age)
    if output.as_json:
        output.json({"deleted": count, "audits": audited})
    else:
        texts = f" and the texts of {audited} audits" if audited else ""
        output.say(f"deleted {count} stored queries{texts} older than {arguments.older_than}")
    return EXIT_OK
