"""Rename and delete stored runs."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from data.blank import is_blank
from data.schema import runs
from data.store import Store
from evaluation.errors import EvaluationError


def rename_run(store: Store, run_id: str, name: str) -> None:
    """Rename a run.

    Raises EvaluationError if the name is empty or is the name of another run.
    """
    if is_blank(name):
        raise EvaluationError("the name is empty", parameter="name")
    with store.write() as connection:
        other_run = (
            connection.execute(select(runs.c.id).where(runs.c.name == name, runs.c.id != run_id)).scalars().first()
        )
        if other_run is not None:
            raise EvaluationError(f"run {other_run} is called {name!r} already: choose another name", parameter="name")
        connection.execute(update(runs).where(runs.c.id == run_id).values(name=name))


def delete_run(store: Store, run_id: str) -> None:
    """Delete a run with its questions, samples, verdicts and labels, in one transaction."""
    with store.write() as connection:
        if store.path is not None:  # SQLite overwrites the bytes, so that a copy of the file does not contain them
            connection.exec_driver_sql("PRAGMA secure_delete=ON")
        connection.execute(delete(runs).where(runs.c.id == run_id))
