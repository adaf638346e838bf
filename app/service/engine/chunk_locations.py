"""Caches the locations of chunks in their documents per index: finding one reads the whole document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from app.retrieval.chunk_locations import chunk_locations
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.retriever import Retriever


class ChunkLocator:
    """For one thread. A retriever's cache is dropped when a newer index is published."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Retriever, dict[str, str]] = WeakKeyDictionary()

    def places(self, store: Store, stored: str, retriever: Retriever, chunks: Sequence[Chunk]) -> Mapping[str, str]:
        """Readable locations by chunk id; empty if unknown. stored: the collection's name in the store. Raises
        DataError.
        """
        locations = self._held.setdefault(retriever, {})
        # An empty location is looked up again: a newer index may have been published at that moment.
        locations |= chunk_locations(store, stored, [chunk for chunk in chunks if not locations.get(chunk.id)])
        return {chunk.id: locations[chunk.id] for chunk in chunks}
