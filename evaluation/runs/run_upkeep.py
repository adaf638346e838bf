"""Renaming and deletion of stored runs."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from data.blank import is_blank
from data.schema import runs
from data.store import Store
from evaluation.errors import EvaluationError


def rename_run(store: Store, run_id: str, name: str) -> None:
    """Rename a run.

    Raises EvaluationError for an empty name or the name of another run, because a name identifies its run.
    """
    if is_blank(name):
        raise EvaluationError("the name is empty", parameter="name")
    with store.write() as connection:
        taken = connection.execute(select(runs.c.id).where(runs.c.name == name, runs.c.id != run_id)).scalars().first()
        if taken is not None:
            raise EvaluationError(f"run {taken} is called {name!r} already: choose another name", parameter="name")
        connection.execute(update(runs).where(runs.c.id == run_id).values(name=name))


def delete_run(store: Store, run_id: str) -> None:
    """Delete a run with its questions, samples, verdicts and labels, in one transaction."""
    with store.write() as connection:
        if store.path is not None:  # the bytes are overwritten: a copy of the file does not hold them any more
            connection.exec_driver_sql("PRAGMA secure_delete=ON")
        connection.execute(delete(runs).where(runs.c.id == run_id))
