"""Search results of a collection, for comparison before and after a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from data.store import Store
from retrieval.collections import open_retriever

QUERY = "machine m2x weighs"


def answers(store: Store, home: Path, encoder: Any, name: str = "c") -> list[tuple[str, str, float]]:
    found = open_retriever(store, home, name, encoder).retrieve(QUERY, 20)
    return [(hit.chunk.id, hit.chunk.text, round(hit.score, 6)) for hit in found]
