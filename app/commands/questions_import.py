"""Import user questions from request logs and traces.

The command reads OpenAI-style request logs, Langfuse and LangSmith exports, Phoenix and OpenTelemetry (OTLP) spans as
JSON or JSON Lines, and CSV. Near-duplicates become one question with variants.

E-mail addresses, telephone numbers and card numbers are replaced by rule and listed by record. The rules do not detect
names and postal addresses: read the file before you share it. The questions have no reference answers. Add them with
``plumbline questions review``, or judge the answers by the documents.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from app.console import Output
from app.errors import EXIT_OK, UsageError

_LISTED = 20


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_encoder

    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG", help="JSON, JSON Lines or CSV")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="question file to write (JSONL)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--column", metavar="NAME", help="column of a CSV file that has the question")
    add_encoder(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Import the questions and print how many were kept, grouped, dropped and refused."""
    from app.commands.options import open_pipeline
    from app.questions.importing import import_questions

    if arguments.output.exists() and not arguments.force:
        raise UsageError(f"{arguments.output} exists: --force replaces it, or name another file")
    with open_pipeline(arguments) as pipeline:
        report = import_questions(arguments.logs, arguments.output, pipeline.encoder, arguments.column)
    if output.as_json:
        output.json({"file": str(arguments.output), **asdict(report)})
        return EXIT_OK
    output.data(
        f"{report.questions} questions of {report.records} records in {arguments.output}, "
        f"{report.grouped} near-duplicates grouped with them"
    )
    for reason, count in report.refused.items():
        output.data(f"  {count} left out: {reason}")
    for one in report.dropped[:_LISTED]:
        output.data(f"  dropped {one.kind} in {one.where}")
    if len(report.dropped) > _LISTED:
        output.data(f"  and {len(report.dropped) - _LISTED} more (--json lists all)")
    return EXIT_OK
