"""Permanently delete stored queries that are older than a given age, with their answers.

The texts of audited answers (PLUMBLINE_AUDIT_RATE) of that age are deleted as well; their labels and figures are kept.
``plumbline prune --older-than 90d`` runs once. With PLUMBLINE_KEEP_QUERIES_DAYS=90 the worker of ``plumbline serve``
prunes every hour. By default queries are kept forever.
"""

from __future__ import annotations

import argparse

from app.commands.parser import renamed
from app.console import Output
from app.errors import EXIT_OK, UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    age = parser.add_argument("--older-than", metavar="AGE", help="age such as 12h, 90d or 4w (required)")
    renamed(parser, "--queries", age)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Delete the queries and print their number."""
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
        output.info(f"deleted {count} stored queries{texts} older than {arguments.older_than}")
    return EXIT_OK
