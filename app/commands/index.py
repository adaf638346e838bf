"""Make a collection hold exactly the documents found at the given paths.

PATH is a folder of .txt and .md files, one such file, a .jsonl file of {"id", "title", "text"} (also .gz, .bz2) or a
BEIR folder. Documents no longer there stop answering once the new index is published; unchanged ones are not embedded
again. The run may be killed and started again: it goes on where it was.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.console import Output
from app.errors import EXIT_OK, UsageError

_SHOWN = 20


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_encoder

    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="folders or files to index")
    parser.add_argument("--collection", required=True, metavar="NAME", help="letters, digits, dot, dash, underscore")
    parser.add_argument("--chunk-tokens", type=int, default=110, help="most word pieces of a chunk (default 110)")
    parser.add_argument("--limit", type=int, default=None, help="index only the first N documents")
    add_encoder(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Index and print what was done."""
    from itertools import islice

    from app.commands.options import pipeline
    from data.loaders import load_documents
    from retrieval.chunking import ChunkingParams
    from retrieval.index_report import IndexProgress

    try:
        chunking = ChunkingParams(max_tokens=arguments.chunk_tokens)
    except ValueError as error:
        raise UsageError(f"--chunk-tokens: {error}") from error
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError(f"--limit is {arguments.limit}: at least one document must be indexed")
    with pipeline(arguments) as line, output.progress() as bar:
        source = islice(load_documents(arguments.paths), arguments.limit)

        def show(progress: IndexProgress) -> None:
            bar.update(progress.phase, progress.done, progress.total)

        report = line.index(arguments.collection, source, chunking=chunking, progress=show)
    facts: dict[str, Any] = asdict(report)
    facts["refused"] = [asdict(refused) for refused in report.refused]
    if output.as_json:
        output.json(facts)
        return EXIT_OK
    output.data(
        f"{report.collection}: {report.documents} documents, {report.chunks} chunks "
        f"({report.embedded} embedded, {report.reused} reused) in {report.seconds:.1f} s"
    )
    output.data(
        f"added {report.added}, changed {report.changed}, unchanged {report.unchanged}, removed {report.removed}, "
        f"refused {len(report.refused)}"
    )
    for refused in report.refused[:_SHOWN]:
        output.data(f"  refused {refused.where}: {refused.reason}")
    if len(report.refused) > _SHOWN:
        output.data(f"  and {len(report.refused) - _SHOWN} more (--json lists all)")
    output.data(f"generation {report.generation_hash}{'' if report.rebuilt else ' (nothing had changed)'}")
    return EXIT_OK
