"""Storage of audits and their labels in the SQL store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast, get_args

from sqlalchemy import ScalarSelect, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.schema import audit_labels, audits, collections
from data.store import Store
from evaluation.audits.audit import Audit, AuditContent, AuditedPassage, StoredAudit
from evaluation.correction.label_store import check_annotator
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome

_BATCH_SIZE = 500
_KEPT = audits.c.content.is_not(None).label("kept")


@dataclass(frozen=True, slots=True)
class AuditLabel:
    """Label of one audit by one person.

    audit: number of the audit. annotator: name of the person. settles: whether the label adjudicates a disagreement.
    """

    audit: int
    annotator: str
    label: Outcome
    settles: bool = False


class AuditStore:
    """Access to audits and labels in the SQL store. Stateless. Raises DataError as the store does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, drawn: Sequence[Audit], now: datetime) -> int:
        """Store audits in one transaction, in order, and return the number stored. now: time of the audits.

        Leaves out audits of collections that were deleted meanwhile, and of queries that already have an audit.
        """
        a, c = audits.c, collections.c
        with self._store.write() as connection:
            names = {audit.collection for audit in drawn}
            found = connection.execute(select(c.name, c.id).where(c.name.in_(names))).all()
            keys = {row.name: row.id for row in found}
            ids = [audit.query_id for audit in drawn]
            known = set(connection.execute(select(a.query_id).where(a.query_id.in_(ids))).scalars())
            rows = [
                {
                    "query_id": audit.query_id,
                    "collection_id": keys[audit.collection],
                    "certificate": audit.certificate,
                    "policy": audit.policy,
                    "probability": audit.probability,
                    "answered": audit.answered,
                    "score": audit.score,
                    "content": asdict(audit.content),
                    "created_at": now,
                }
                for audit in drawn
                if audit.collection in keys and audit.query_id not in known
            ]
            for row in rows:  # separate inserts, so that the numbers follow the order of the answers
                connection.execute(insert(audits).values(row))
        return len(rows)

    def load(self, collection: str) -> tuple[StoredAudit, ...]:
        """Return the audits of a collection (stored name), in order, without their texts."""
        columns = [column for column in audits.c if column.name != "content"]
        statement = select(*columns, _KEPT).where(audits.c.collection_id == _key(collection)).order_by(audits.c.number)
        with self._store.read() as connection:
            rows = connection.execute(statement).mappings().all()
        return tuple(_audit(row) for row in rows)

    def to_label(self, collection: str) -> tuple[tuple[int, str], ...]:
        """Return (number, query ID) of the collection's answered audits with stored texts, in order."""
        a = audits.c
        conditions = (a.collection_id == _key(collection), a.answered.is_(True), a.content.is_not(None))
        with self._store.read() as connection:
            rows = connection.execute(select(a.number, a.query_id).where(*conditions).order_by(a.number)).all()
        return tuple((row.number, row.query_id) for row in rows)

    def with_texts(self, numbers: Sequence[int]) -> dict[int, StoredAudit]:
        """Return these audits with their texts, by number; unknown numbers are left out."""
        found: dict[int, StoredAudit] = {}
        with self._store.read() as connection:
            for start in range(0, len(numbers), _BATCH_SIZE):
                part = numbers[start : start + _BATCH_SIZE]
                chosen = select(*audits.c, _KEPT).where(audits.c.number.in_(part)).order_by(audits.c.number)
                found.update((row["number"], _audit(row)) for row in connection.execute(chosen).mappings())
        return found

    def set_distances(self, distances: Mapping[int, float]) -> None:
        """Store the distances of questions, by audit number. Distances that are already stored stay."""
        with self._store.write() as connection:
            for number, distance in distances.items():
                pending = (audits.c.number == number, audits.c.distance.is_(None))
                connection.execute(update(audits).where(*pending).values(distance=distance))

    def save_labels(self, given: Iterable[AuditLabel], now: datetime) -> None:
        """Write labels in one transaction. Each replaces the same person's earlier label.

        Raises EvaluationError for an audit that does not exist or was deleted, or an invalid name or label.
        """
        rows = [_label_row(label) | {"created_at": now} for label in given]
        try:
            with self._store.write() as connection:
                for row in rows:
                    same = [audit_labels.c[name] == row[name] for name in ("audit", "annotator", "settles")]
                    connection.execute(delete(audit_labels).where(*same))
                if rows:
                    connection.execute(insert(audit_labels), rows)
        except IntegrityError as error:
            raise EvaluationError("one of the labelled audits was deleted meanwhile, so no label was saved") from error

    def labels(self, collection: str) -> tuple[AuditLabel, ...]:
        """Return all labels of the collection's audits, oldest first."""
        t = audit_labels.c
        statement = (
            select(audit_labels)
            .join(audits, audits.c.number == t.audit)
            .join(collections, collections.c.id == audits.c.collection_id)
            .where(collections.c.name == collection)
            .order_by(t.created_at, t.audit, t.annotator)
        )
        with self._store.read() as connection:
            rows = connection.execute(statement).mappings().all()
        return tuple(
            AuditLabel(row["audit"], row["annotator"], cast(Outcome, row["label"]), bool(row["settles"]))
            for row in rows
        )

    def latest(self, collection: str) -> datetime | None:
        """Return the latest time of any audit or label of the collection, None if there is none."""
        drawn = select(func.max(audits.c.created_at)).where(audits.c.collection_id == _key(collection))
        labelled = (
            select(func.max(audit_labels.c.created_at))
            .join(audits, audits.c.number == audit_labels.c.audit)
            .where(audits.c.collection_id == _key(collection))
        )
        with self._store.read() as connection:
            found = [connection.execute(statement).scalar() for statement in (drawn, labelled)]
        return max((moment for moment in found if moment is not None), default=None)


def _key(collection: str) -> ScalarSelect[int]:
    return select(collections.c.id).where(collections.c.name == collection).scalar_subquery()


def _audit(row: Any) -> StoredAudit:
    content = row.get("content")
    return StoredAudit(
        row["number"],
        row["query_id"],
        row["certificate"],
        row["policy"],
        row["probability"],
        bool(row["answered"]),
        row["score"],
        row["distance"],
        bool(row["kept"]),
        None if content is None else _content(content),
        row["created_at"],
    )


def _content(fields: Mapping[str, Any]) -> AuditContent:
    passages = tuple(AuditedPassage(**passage) for passage in fields["passages"])
    return AuditContent(**{**fields, "passages": passages})


def _label_row(given: AuditLabel) -> dict[str, Any]:
    if given.label not in get_args(Outcome):
        raise EvaluationError(f"the label {given.label!r} must be one of {', '.join(get_args(Outcome))}")
    return {
        "audit": given.audit,
        "annotator": check_annotator(given.annotator),
        "settles": given.settles,
        "label": given.label,
    }
