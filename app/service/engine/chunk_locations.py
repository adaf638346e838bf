"""Cache the locations of chunks in their documents per index, since finding one reads the complete document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from app.retrieval.chunk_locations import chunk_locations
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.retriever import Retriever


class ChunkLocator:
    """A cache of chunk locations, for use in one thread. A retriever's entries are dropped when a newer index is
    published.
    """

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Retriever, dict[str, str]] = WeakKeyDictionary()

    def places(self, store: Store, stored: str, retriever: Retriever, chunks: Sequence[Chunk]) -> Mapping[str, str]:
        """Return locations as text, by chunk ID; empty if unknown. stored: the collection's name in the store. Raises
        DataError.
        """
        locations = self._held.setdefault(retriever, {})
        # An empty location is searched again: a newer index may have been published during the first search.
        locations |= chunk_locations(store, stored, [chunk for chunk in chunks if not locations.get(chunk.id)])
        return {chunk.id: locations[chunk.id] for chunk in chunks}
