"""Store queries and their answers in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import insert, select

from app.answers import QueryResult
from data.columns import utc_now
from data.schema import collections, queries
from data.store import Store


def store_queries(store: Store, results: Sequence[QueryResult], stored: Sequence[str | None]) -> None:
    """Store queries and their answers in one transaction. Raises DataError if the database fails.

    stored: for each query, the stored name of the collection that was searched; None without retrieval.
    """
    with store.write(exclusive=False) as connection:
        names = {name for name in stored if name is not None}
        c = collections.c
        collection_rows = connection.execute(select(c.name, c.id).where(c.name.in_(names))).all() if names else ()
        keys = {row.name: row.id for row in collection_rows}
        known: set[str] = set()
        if store.shared:  # A batch whose commit was not confirmed is stored again, so its rows may already exist.
            ids = [result.id for result in results]
            known.update(connection.execute(select(queries.c.id).where(queries.c.id.in_(ids))).scalars())
        rows = [
            {
                "id": result.id,
                "collection_id": keys.get(name or ""),
                "question": result.request.question,
                "params": asdict(result.request.params),
                "answer": result.to_json(),
                "created_at": utc_now(),
            }
            for result, name in zip(results, stored, strict=True)
            if result.id not in known
        ]
        if rows:
            connection.execute(insert(queries), rows)
