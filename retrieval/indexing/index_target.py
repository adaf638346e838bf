"""The destination of an indexing job."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.engines.engines import LOCAL, Engines
from retrieval.engines.record import EngineName


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """Destination of a generation and the conditions under which it is written.

    vectors: engine that holds the indexes; None for the engine of the collection, or files if the collection is new.
    engines: addresses of the engines. rewrite: whether to write the indexes even if nothing has changed.
    expected_hash: required generation hash; None if unknown.
    """

    vectors: EngineName | None = None
    engines: Engines = LOCAL
    rewrite: bool = False
    expected_hash: str | None = None
