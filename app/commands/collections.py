"""List collections and their documents; verify, repair, export, import or delete a collection."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.confirm import add_yes, confirmed
from app.commands.parser import add_nested
from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.pipeline import Pipeline
    from retrieval.upkeep.archive_layout import ArchiveReport
    from retrieval.upkeep.verifying import VerificationReport

_LIST = """List the collections, or the documents of one collection.

Without NAME: every collection with its documents, chunks and tuned search. With NAME: the documents of its published
index, by ID, with their length in characters."""
_DELETE = "Delete a collection with its documents, after a confirmation (skipped with --yes)."
_VERIFY = """Check every hash, count, offset, vector and row of a collection.

The exit code is 1 if there is a problem."""
_REPAIR = "Rebuild the damaged parts of a collection from its other parts."
_EXPORT = "Write a collection to one file, to move it to another machine."
_IMPORT = "Read a collection from a file written by export."
_PAGE = 1000


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = (
        ("list", _LIST, _add_list),
        ("delete", _DELETE, _add_delete),
        ("verify", _VERIFY, _add_collection),
        ("repair", _REPAIR, _add_repair),
        ("export", _EXPORT, _add_export),
        ("import", _IMPORT, _add_import),
    )
    add_nested(parser, "action", actions, default="list")
    parser.set_defaults(collection=None, limit=None)


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("collection", nargs="?", metavar="NAME", help="collection (default: list all collections)")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="show only the first N documents")


def _add_collection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("collection", metavar="NAME", help="collection")


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_collection(parser)
    add_yes(parser)


def _add_repair(parser: argparse.ArgumentParser) -> None:
    from app.commands.options import add_encoder

    _add_collection(parser)
    add_encoder(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_collection(parser)
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write")


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file written by export")
    parser.add_argument("--name", default=None, help="name of the new collection (default: its original name)")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    from app.commands.options import open_pipeline

    name = arguments.collection
    actions: Mapping[str, Callable[[], int]] = {
        "list": lambda: (
            _list(pipeline, output) if name is None else _documents(pipeline, name, arguments.limit, output)
        ),
        "delete": lambda: _delete(pipeline, name, arguments.yes, output),
        "verify": lambda: _verify(pipeline, name, output),
        "repair": lambda: _repair(pipeline, name, output),
        "export": lambda: _export(pipeline, name, arguments.file, output),
        "import": lambda: _import(pipeline, arguments.file, arguments.name, output),
    }
    if arguments.limit is not None and (arguments.limit < 1 or name is None):
        raise UsageError(f"--limit is {arguments.limit}: it must be at least 1 and needs a collection NAME")
    with open_pipeline(arguments) as pipeline:
        return actions[arguments.action]()


def _documents(pipeline: Pipeline, name: str, limit: int | None, output: Output) -> int:
    """Print the documents of a collection's published index."""
    from retrieval.collections import check_published
    from retrieval.generations.contents import DocumentFacts, list_documents

    check_published(pipeline.store, name)
    documents: list[DocumentFacts] = []
    total = 1
    while len(documents) < (total if limit is None else min(limit, total)):
        rest = _PAGE if limit is None else min(_PAGE, limit - len(documents))
        page = list_documents(pipeline.store, name, rest, len(documents))
        total = page.total
        if not page.documents:  # Another process removed documents in the meantime.
            break
        documents.extend(page.documents)
    shown = len(documents)
    if output.as_json:
        rows = [{**asdict(one), "created_at": one.created_at.isoformat()} for one in documents]
        output.json({"collection": name, "total": total, "documents": rows})
        return EXIT_OK
    for one in documents:
        title = f"  {one.title}" if one.title and one.title != one.id else ""
        output.data(f"{one.id}  {one.characters:,} characters  {one.created_at:%Y-%m-%d}{title}")
    output.info(f"{shown:,} of {total:,} documents of {name}" if shown < total else f"{total:,} documents")
    return EXIT_OK


def _list(pipeline: Pipeline, output: Output) -> int:
    from app.commands.tune import options
    from retrieval.collections import list_collections
    from retrieval.errors import RetrievalError
    from retrieval.saved_search import SavedSearch, saved_search

    infos = list_collections(pipeline.store)
    tuned: dict[str, SavedSearch | None] = {}
    for info in infos:
        try:
            tuned[info.name] = saved_search(pipeline.home, info.name)
        except RetrievalError as error:  # One damaged collection must not hide the others.
            tuned[info.name] = None
            output.info(str(error))
    if output.as_json:
        output.json(
            [
                {
                    "name": info.name,
                    "documents": info.documents,
                    "chunks": info.chunks,
                    "generation": info.generation_hash,
                    "encoder": info.encoder,
                    "vectors": info.vectors,
                    "created_at": info.created_at.isoformat(),
                    "published_at": info.published_at.isoformat() if info.published_at else None,
                    "search": saved.to_json() if (saved := tuned[info.name]) else None,
                }
                for info in infos
            ]
        )
        return EXIT_OK
    for info in infos:
        state = f"generation {info.generation_hash[:12]}" if info.generation_hash else "indexing never finished"
        output.data(f"{info.name}: {info.documents} documents, {info.chunks} chunks, {state}")
        saved = tuned[info.name]
        if saved is not None:
            output.data(f"  searched by {options(saved.params)} ({saved.why})")
            if saved.encoder and info.encoder and saved.encoder != info.encoder:
                output.info(f"{info.name} was tuned with another encoder: run plumbline tune {info.name} again")
    if not infos:
        output.info(f"no collection in {pipeline.home}: create one with plumbline index PATH --collection NAME")
    return EXIT_OK


def _delete(pipeline: Pipeline, name: str, yes: bool, output: Output) -> int:
    from retrieval.collections import collection_info, delete_collection

    info = collection_info(pipeline.store, name)
    if not confirmed(f"the collection {name} with its {info.documents:,} documents", yes, output):
        return EXIT_ERROR
    delete_collection(pipeline.store, pipeline.home, name, pipeline.engines)
    output.info(f"deleted {name}")
    return EXIT_OK


def _verify(pipeline: Pipeline, name: str, output: Output) -> int:
    from retrieval.upkeep.verifying import verify_collection

    with output.progress() as bar:
        verified = verify_collection(pipeline.store, pipeline.home, name, bar.update, pipeline.engines)
    _show_verified(verified, output)
    return EXIT_ERROR if verified.problems else EXIT_OK


def _repair(pipeline: Pipeline, name: str, output: Output) -> int:
    import time

    from app.retrieval.index_progress import shown_progress
    from retrieval.upkeep.repairing import repair_collection

    with shown_progress(output, time.monotonic) as show:
        encoder = pipeline.subprocess_encoder
        repaired = repair_collection(pipeline.store, pipeline.home, name, encoder, show, engines=pipeline.engines)
    if output.as_json:
        output.json({"done": list(repaired.done), "after": _facts(repaired.after)})
    else:
        for done in repaired.done or ("no problem found",):
            output.data(done)
        if repaired.done:
            _show_verified(repaired.after, output)
    return EXIT_ERROR if repaired.after.problems else EXIT_OK


def _export(pipeline: Pipeline, name: str, file: Path, output: Output) -> int:
    from retrieval.upkeep.exporting import export_collection

    _show_moved(export_collection(pipeline.store, pipeline.home, name, file, pipeline.engines), file, output)
    return EXIT_OK


def _import(pipeline: Pipeline, file: Path, name: str | None, output: Output) -> int:
    from retrieval.upkeep.importing import import_collection

    _show_moved(import_collection(pipeline.store, pipeline.home, file, name), file, output)
    return EXIT_OK


def _facts(verified: VerificationReport) -> dict[str, object]:
    return {**asdict(verified), "ok": not verified.problems, "problems": [asdict(p) for p in verified.problems]}


def _show_verified(verified: VerificationReport, output: Output) -> None:
    if output.as_json:
        output.json(_facts(verified))
        return
    for problem in verified.problems:
        output.data(f"problem: {problem}")
    checked = (
        f"{verified.documents} documents, {verified.chunks} chunks, {verified.vectors} vectors and "
        f"{verified.files} files"
    )
    if count := len(verified.problems):
        output.info(
            f"{count} {'problem' if count == 1 else 'problems'} in {verified.collection} (checked: {checked}); "
            f"run `plumbline collections repair {verified.collection}`, or plumbline index again with the "
            "same sources"
        )
    else:
        output.data(f"{verified.collection} is intact (checked: {checked})")


def _show_moved(moved: ArchiveReport, file: Path, output: Output) -> None:
    if output.as_json:
        output.json({**asdict(moved), "file": str(file)})
        return
    output.data(
        f"{moved.collection}: {moved.documents} documents, {moved.chunks} chunks, generation "
        f"{moved.generation_hash[:12]}, {moved.bytes:,} bytes in {file}"
    )
