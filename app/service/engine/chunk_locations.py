"""Where chunks stand in their documents, remembered while their index answers: to find it reads whole documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from app.retrieval.chunk_locations import chunk_locations
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.retriever import Retriever


class ChunkLocator:
    """For one thread. What was found for a retriever goes with it, when a newer index is published."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Retriever, dict[str, str]] = WeakKeyDictionary()

    def places(self, store: Store, stored: str, retriever: Retriever, chunks: Sequence[Chunk]) -> Mapping[str, str]:
        """In words, by chunk id; empty where nothing is known. stored: the collection's name. Raises DataError."""
        held = self._held.setdefault(retriever, {})
        # An empty one is asked for again: perhaps a newer index was published at that moment.
        held |= chunk_locations(store, stored, [chunk for chunk in chunks if not held.get(chunk.id)])
        return {chunk.id: held[chunk.id] for chunk in chunks}
