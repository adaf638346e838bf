"""Store and load runs with their questions and samples. A cell is written atomically."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast, get_args

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.sql.elements import ColumnElement

from data.columns import utc_now
from data.fields import FieldError
from data.question_json import question_from_fields, question_to_fields
from data.questions import Question
from data.schema import run_questions, runs, samples, verdicts
from data.store import Store
from evaluation.errors import EvaluationError, UnknownRunError
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import RunConfig, config_from_json, config_to_json
from evaluation.runs.run_rows import record_from_rows, sample_row, verdict_rows

RunStatus = Literal["running", "interrupted", "failed", "finished"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Key of a cell: all samples of one question in one arm, by all decodings of the run."""

    question_id: str
    arm: str


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A stored run. samples: number of committed samples.

    A killed run keeps the status "running" and can be resumed.
    """

    id: str
    name: str
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None
    samples: int
    config: RunConfig
    labels: tuple[tuple[str, str], ...]


_OF_CELL = (
    select(samples.c.sample)
    .where(
        samples.c.run_id == bindparam("run"),
        samples.c.question_id == bindparam("question"),
        samples.c.arm == bindparam("arm"),
    )
    .limit(1)
)
"""Statement that selects one sample of a cell. It is built once, because every cell of a run uses it."""


class RunStore:
    """The stored runs. The object has no state except its store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create_or_open_run(
        self,
        config: RunConfig,
        questions: Sequence[Question],
        name: str = "",
        labels: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Create the run, or mark an existing one as running again. Return its ID.

        name: display name; the ID by default. A name that is given replaces that of an existing run.
        labels: information for readers that does not determine the run, such as names of collection and generator or
            the command line. An existing run keeps its labels.
        """
        run_id = config.run_id
        with self._store.write() as connection:
            if connection.execute(select(runs.c.id).where(runs.c.id == run_id)).first() is not None:
                changes: dict[str, Any] = {"status": "running", "finished_at": None} | ({"name": name} if name else {})
                connection.execute(update(runs).where(runs.c.id == run_id).values(**changes))
                _note_reviewers(connection, run_id, questions)
                return run_id
            stored = {"determines": config_to_json(config), "labels": [list(label) for label in labels]}
            values = {"name": name or run_id, "config": stored, "status": "running", "tenant": config.owner}
            connection.execute(insert(runs).values(id=run_id, **values))
            connection.execute(
                insert(run_questions),
                [
                    {"run_id": run_id, "question_id": q.id, "position": i, "question": question_to_fields(q)}
                    for i, q in enumerate(questions)
                ],
            )
        return run_id

    def finished_at(self, run_id: str) -> datetime | None:
        """Return when the run finished; None if it is unknown or has not finished."""
        with self._store.read() as connection:
            return connection.execute(select(runs.c.finished_at).where(runs.c.id == run_id)).scalar()

    def set_status(self, run_id: str, status: RunStatus, finished_at: datetime | None = None) -> None:
        """Record the status of a run, and the time if the status is "finished". finished_at: the time; None for now."""
        finished = (finished_at or utc_now()) if status == "finished" else None
        with self._store.write() as connection:
            connection.execute(update(runs).where(runs.c.id == run_id).values(status=status, finished_at=finished))

    def committed(self, run_id: str) -> frozenset[Cell]:
        """Return the cells with stored samples."""
        statement = select(samples.c.question_id, samples.c.arm).where(samples.c.run_id == run_id).distinct()
        with self._store.read() as connection:
            return frozenset(Cell(row.question_id, row.arm) for row in connection.execute(statement))

    def save_samples(self, run_id: str, records: Sequence[SampleRecord]) -> None:
        """Write samples and their verdicts in one transaction.

        Existing cells are left unchanged. Another process may have drawn them, and equal seeds give equal samples.
        """
        by_cell: dict[Cell, list[SampleRecord]] = defaultdict(list)
        for record in records:
            by_cell[Cell(record.question_id, record.arm)].append(record)
        with self._store.write(exclusive=False) as connection:
            # The lock lets one process at a time write samples of a run. Different runs do not wait for each other.
            connection.execute(select(runs.c.id).where(runs.c.id == run_id).with_for_update(key_share=True))
            for cell, members in by_cell.items():
                names = {"run": run_id, "question": cell.question_id, "arm": cell.arm}
                if connection.execute(_OF_CELL, names).first() is not None:
                    continue
                connection.execute(insert(samples), [sample_row(run_id, r) for r in members])
                judged = [row for r in members for row in verdict_rows(run_id, r)]
                if judged:
                    connection.execute(insert(verdicts), judged)

    def drop_failed(self, run_id: str) -> int:
        """Delete the cells in which search, generator or verifier failed, and return their number.

        The next call of ``run_experiment`` draws them again.
        """
        statement = select(samples.c.question_id, samples.c.arm, samples.c.evaluation).where(samples.c.run_id == run_id)
        with self._store.write() as connection:
            failed = {
                (row.question_id, row.arm)
                for row in connection.execute(statement)
                if row.evaluation["failure"] in ("retrieval", "generator", "verifier")
            }
            for question_id, arm in failed:
                for table in (verdicts, samples):
                    c = table.c
                    connection.execute(
                        delete(table).where(c.run_id == run_id, c.question_id == question_id, c.arm == arm)
                    )
        return len(failed)

    def load_samples(self, run_id: str, every_decoding: bool = False) -> tuple[SampleRecord, ...]:
        """Load the samples of a run's headline decoding with the verdicts of its own verifier.

        The samples are sorted by question, arm (as configured), decoding and sample.

        every_decoding: whether to load the samples of all decodings of the grid.

        Raises UnknownRunError for an unknown run, and EvaluationError for unreadable rows.
        """
        info = self.load_run(run_id)
        judged: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
        of_run = (verdicts.c.run_id == info.id, verdicts.c.verifier == info.config.verifier)
        with self._store.read() as connection:
            for row in connection.execute(select(verdicts).where(*of_run)).mappings():
                judged[_key(dict(row))].append(dict(row))
            chosen = select(samples).where(samples.c.run_id == info.id)
            if not every_decoding:
                chosen = chosen.where(samples.c.decoding == info.config.decoding.label)
            found = connection.execute(chosen).mappings()
            rows = [dict(row) for row in found]
            positions = select(run_questions.c.question_id, run_questions.c.position)
            index_of = {
                row.question_id: row.position
                for row in connection.execute(positions.where(run_questions.c.run_id == info.id))
            }
        arms = {arm.name: i for i, arm in enumerate(info.config.arms)}
        cells = {decoding.label: i for i, decoding in enumerate(info.config.decodings)}
        try:
            records = [record_from_rows(row, judged[_key(row)]) for row in rows]
            return tuple(
                sorted(records, key=lambda r: (index_of[r.question_id], arms[r.arm], cells[r.decoding], r.sample))
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"a sample of run {info.id} in {self._store.name} cannot be read ({error}): another program "
                "changed the database, or another version of Plumbline wrote it"
            ) from error

    def load_questions(self, run_id: str) -> tuple[Question, ...]:
        """Return the questions stored with a run, in order.

        Raises UnknownRunError for an unknown run, and EvaluationError for unreadable questions.
        """
        info = self.load_run(run_id)
        statement = select(run_questions.c.question).where(run_questions.c.run_id == info.id)
        with self._store.read() as connection:
            rows = connection.execute(statement.order_by(run_questions.c.position)).scalars().all()
        try:
            return tuple(question_from_fields(row) for row in rows)
        except FieldError as error:
            raise EvaluationError(f"a question of run {info.id} cannot be read: {error}") from error

    def load_run(self, run_id: str) -> RunInfo:
        """Find a run by its id, its name, or a unique prefix of its id (at least four characters).

        Raises UnknownRunError, which lists the known runs.
        """
        known = self.list_runs()
        named = [r for r in known if r.id == run_id] or [r for r in known if r.name == run_id]
        matching = named or [r for r in known if len(run_id) >= 4 and r.id.startswith(run_id)]
        if len(matching) == 1:
            return matching[0]
        raise UnknownRunError(run_id, tuple((r.id, r.name) for r in known), several=tuple(r.id for r in matching))

    def tenant_run(self, tenant: str, run_id: str) -> RunInfo | None:
        """Return the tenant's run with exactly this ID; None if there is none."""
        return next(iter(self._listed(runs.c.tenant == tenant, runs.c.id == run_id)), None)

    def list_runs(self, tenant: str | None = None) -> tuple[RunInfo, ...]:
        """Return all runs, newest first.

        tenant: the tenant whose runs are returned ("" for local runs); None for the runs of all tenants.
        """
        return self._listed(*(() if tenant is None else (runs.c.tenant == tenant,)))

    def _listed(self, *where: ColumnElement[bool]) -> tuple[RunInfo, ...]:
        counted = select(samples.c.run_id, func.count().label("number")).group_by(samples.c.run_id).subquery()
        statement = select(runs, counted.c.number).outerjoin(counted, counted.c.run_id == runs.c.id).where(*where)
        with self._store.read() as connection:
            rows = connection.execute(statement.order_by(runs.c.created_at.desc(), runs.c.id)).mappings().all()
        return tuple(_run_info(dict(row)) for row in rows)


def _note_reviewers(connection: Connection, run_id: str, questions: Sequence[Question]) -> None:
    """Store the reviewers of questions reviewed since the run began. Reviewers do not determine the run."""
    for question in questions:
        if question.reviewed_by:
            stored = (run_questions.c.run_id == run_id) & (run_questions.c.question_id == question.id)
            connection.execute(update(run_questions).where(stored).values(question=question_to_fields(question)))


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["question_id"], row["arm"], row["decoding"], row["sample"]


def _run_info(row: Mapping[str, Any]) -> RunInfo:
    if row["status"] not in get_args(RunStatus):
        raise EvaluationError(f"run {row['id']} has the unknown status {row['status']!r}")
    stored = row["config"]
    return RunInfo(
        id=row["id"],
        name=row["name"],
        status=cast(RunStatus, row["status"]),
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        samples=row["number"] or 0,
        config=config_from_json(stored["determines"], row["id"]),
        labels=tuple((str(k), str(v)) for k, v in stored["labels"]),
    )
