"""Rows of the vectors table, for tests of the store."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

from data.schema import vectors
from data.store import Store


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def count(store: Store) -> int:
    with store.read() as connection:
        return connection.scalar(select(func.count()).select_from(vectors)) or 0


def vector(number: int, size: int = 4) -> dict[str, object]:
    return {"encoder": "e", "text_sha256": str(number), "vector": bytes(size)}
