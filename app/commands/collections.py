"""List the collections, or delete one.

``plumbline collections`` lists; ``plumbline collections delete NAME`` removes a collection and its documents.
"""

from __future__ import annotations

import argparse

from app.console import Output
from app.errors import EXIT_OK, UsageError


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", nargs="?", choices=("list", "delete"), default="list", help="default list")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the collection to delete")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """List or delete."""
    from app.commands.options import pipeline
    from retrieval.collections import delete_collection, list_collections

    if (arguments.action == "delete") != (arguments.name is not None):
        raise UsageError("usage: plumbline collections [list] or plumbline collections delete NAME")
    with pipeline(arguments) as line:
        if arguments.action == "delete":
            delete_collection(line.store, line.home, arguments.name)
            output.say(f"deleted {arguments.name}")
            return EXIT_OK
        infos = list_collections(line.store)
    if output.as_json:
        output.json(
            [
                {
                    "name": info.name,
                    "documents": info.documents,
                    "chunks": info.chunks,
                    "generation": info.generation_hash,
                    "encoder": info.encoder,
                    "created_at": info.created_at.isoformat(),
                    "published_at": info.published_at.isoformat() if info.published_at else None,
                }
                for info in infos
            ]
        )
        return EXIT_OK
    for info in infos:
        state = f"generation {info.generation_hash[:12]}" if info.generation_hash else "never indexed to the end"
        output.data(f"{info.name}: {info.documents} documents, {info.chunks} chunks, {state}")
    if not infos:
        output.say(f"no collection in {line.home}: make one with plumbline index PATH --collection NAME")
    return EXIT_OK
