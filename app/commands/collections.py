"""List the collections, check, repair, move or delete one.

``list`` is the default. ``verify NAME`` checks every hash, count, offset, vector and row (exit code 1 if anything is
wrong); ``repair NAME`` rebuilds what its own parts allow; ``export NAME FILE`` and ``import FILE [--name NAME]`` move a
collection to another machine; ``delete NAME`` removes it with its documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.pipeline import Pipeline
    from retrieval.upkeep.archive_layout import ArchiveReport
    from retrieval.upkeep.verifying import VerificationReport

_OPERANDS = {
    "list": "",
    "delete": "NAME",
    "verify": "NAME",
    "repair": "NAME",
    "export": "NAME FILE",
    "import": "FILE",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_encoder

    parser.add_argument("action", nargs="?", choices=tuple(_OPERANDS), default="list", help="default list")
    parser.add_argument("operands", nargs="*", metavar="NAME|FILE", help="the collection, the file")
    parser.add_argument("--name", default=None, help="what to call an imported collection (default its own name)")
    add_encoder(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Do what was asked."""
    from app.commands.options import open_pipeline

    action, operands = arguments.action, arguments.operands
    if len(operands) != len(_OPERANDS[action].split()) or (arguments.name is not None and action != "import"):
        wanted = f"{action} {_OPERANDS[action]}".strip() + (" [--name NAME]" if action == "import" else "")
        raise UsageError(f"usage: plumbline collections {wanted}")
    actions: Mapping[str, Callable[[], int]] = {
        "list": lambda: _list(pipeline, output),
        "delete": lambda: _delete(pipeline, operands[0], output),
        "verify": lambda: _verify(pipeline, operands[0], output),
        "repair": lambda: _repair(pipeline, operands[0], output),
        "export": lambda: _export(pipeline, operands[0], Path(operands[1]), output),
        "import": lambda: _import(pipeline, Path(operands[0]), arguments.name, output),
    }
    with open_pipeline(arguments) as pipeline:
        return actions[action]()


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
        except RetrievalError as error:  # it must not hide the others
            tuned[info.name] = None
            output.say(str(error))
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
                    "search": saved.to_json() if (saved := tuned[info.name]) else None,
                }
                for info in infos
            ]
        )
        return EXIT_OK
    for info in infos:
        state = f"generation {info.generation_hash[:12]}" if info.generation_hash else "never indexed to the end"
        output.data(f"{info.name}: {info.documents} documents, {info.chunks} chunks, {state}")
        saved = tuned[info.name]
        if saved is not None:
            output.data(f"  searched by {options(saved.params)} ({saved.why})")
            if saved.encoder and info.encoder and saved.encoder != info.encoder:
                output.say(f"{info.name} was tuned with another encoder: run plumbline tune {info.name} again")
    if not infos:
        output.say(f"no collection in {pipeline.home}: make one with plumbline index PATH --collection NAME")
    return EXIT_OK


def _delete(pipeline: Pipeline, name: str, output: Output) -> int:
    from retrieval.collections import delete_collection

    delete_collection(pipeline.store, pipeline.home, name)
    output.say(f"deleted {name}")
    return EXIT_OK


def _verify(pipeline: Pipeline, name: str, output: Output) -> int:
    from retrieval.upkeep.verifying import verify_collection

    with output.progress() as bar:
        verified = verify_collection(pipeline.store, pipeline.home, name, bar.update)
    _show_verified(verified, output)
    return EXIT_ERROR if verified.problems else EXIT_OK


def _repair(pipeline: Pipeline, name: str, output: Output) -> int:
    import time

    from app.retrieval.index_progress import shown_progress
    from retrieval.upkeep.repairing import repair_collection

    with shown_progress(output, time.monotonic) as show:
        repaired = repair_collection(pipeline.store, pipeline.home, name, pipeline.encoder_apart, show)
    if output.as_json:
        output.json({"done": list(repaired.done), "after": _facts(repaired.after)})
    else:
        for done in repaired.done or ("nothing was wrong",):
            output.data(done)
        if repaired.done:
            _show_verified(repaired.after, output)
    return EXIT_ERROR if repaired.after.problems else EXIT_OK


def _export(pipeline: Pipeline, name: str, file: Path, output: Output) -> int:
    from retrieval.upkeep.exporting import export_collection

    _show_moved(export_collection(pipeline.store, pipeline.home, name, file), file, output)
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
        output.data(f"wrong: {problem}")
    looked = (
        f"{verified.documents} documents, {verified.chunks} chunks, {verified.vectors} vectors and "
        f"{verified.files} files"
    )
    if wrong := len(verified.problems):
        output.say(
            f"{wrong} {'problem' if wrong == 1 else 'problems'} in {verified.collection} ({looked} were looked at); "
            f"run `plumbline collections repair {verified.collection}`, or plumbline index again with the same sources"
        )
    else:
        output.data(f"{verified.collection} is whole: {looked} are as they were written")


def _show_moved(moved: ArchiveReport, file: Path, output: Output) -> None:
    if output.as_json:
        output.json({**asdict(moved), "file": str(file)})
        return
    output.data(
        f"{moved.collection}: {moved.documents} documents, {moved.chunks} chunks, generation "
        f"{moved.generation_hash[:12]}, {moved.bytes:,} bytes in {file}"
    )
