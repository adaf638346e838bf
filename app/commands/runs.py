"""List, rename or delete evaluation runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from app.commands.confirm import add_yes, confirmed
from app.commands.parser import add_nested
from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.runs.run_store import RunInfo

_LIST = """List the runs, newest first, with name, model, collection, state and ID.

``plumbline report NAME`` prints a run."""
_RENAME = "Rename a run. Every command accepts the new name as RUN."
_DELETE = "Delete a run with its answers, verdicts and labels, after a confirmation (skipped with --yes)."


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = (("list", _LIST, _no_arguments), ("rename", _RENAME, _add_rename), ("delete", _DELETE, _add_delete))
    add_nested(parser, "action", actions, default="list")


def _no_arguments(_parser: argparse.ArgumentParser) -> None:
    return


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="run: name, ID, or prefix of the ID")


def _add_rename(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("name", metavar="NAME", help="new name")


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    from app.commands.options import open_pipeline
    from app.runs.names import run_title
    from evaluation.runs.run_store import RunStore
    from evaluation.runs.run_upkeep import delete_run, rename_run

    with open_pipeline(arguments) as pipeline:
        runs = RunStore(pipeline.store)
        if arguments.action == "list":
            show_runs(runs.list_runs(), output)
            return EXIT_OK
        info = runs.load_run(arguments.run_id)
        if arguments.action == "rename":
            rename_run(pipeline.store, info.id, arguments.name)
            output.info(f"{run_title(info)} ({info.id[:12]}) is now called {arguments.name}")
            return EXIT_OK
        state = ", which is marked as running," if info.status == "running" else ""
        if not confirmed(
            f"the run {run_title(info)} ({info.id[:12]}){state} with {info.samples:,} answers", arguments.yes, output
        ):
            return EXIT_ERROR
        delete_run(pipeline.store, info.id)
        output.info(f"deleted {run_title(info)} ({info.id[:12]})")
    return EXIT_OK


def show_runs(infos: Sequence[RunInfo], output: Output) -> None:
    """Print the runs as a table, or as a JSON list with --json."""
    from app.runs.names import collection_of, model_of, run_title
    from app.runs.tables import plain_table

    if output.as_json:
        output.json([run_json(info) for info in infos])
        return
    if not infos:
        output.info("no run yet: start one with plumbline evaluate")
        return
    table = plain_table(("name", "model", "collection", "arms", "state", "started", "id"))
    for info in infos:
        table.add_row(
            run_title(info),
            model_of(info),
            collection_of(info) or "none",
            ", ".join(arm.name for arm in info.config.arms),
            info.status,
            f"{info.created_at:%Y-%m-%d %H:%M}",
            info.id,
        )
    output.out.print(table)


def run_json(info: RunInfo) -> dict[str, object]:
    """Return the facts about a run that the list shows, as JSON values."""
    from app.runs.names import collection_of, model_of

    return {
        "id": info.id,
        "name": info.name,
        "status": info.status,
        "created_at": info.created_at.isoformat(),
        "finished_at": info.finished_at.isoformat() if info.finished_at else None,
        "model": model_of(info),
        "collection": collection_of(info) or None,
        "arms": [arm.name for arm in info.config.arms],
        "samples": info.samples,
    }
