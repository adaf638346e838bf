"""Errors of the retrieval package."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from plumbline_errors import PlumblineError


class RetrievalError(PlumblineError):
    """An index, a collection or a query is invalid. The message names the problem, its location and the remedy."""


class CollectionBusyError(RetrievalError):
    """Another process is writing the collection; the same call may succeed later."""


class MissingGenerationError(RetrievalError):
    """The folder of a published index is not on this machine. folder: the missing folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        super().__init__(
            f"the index {folder} is not on this machine: mount the home folder that all processes of this database "
            "share, or copy the folder from it. If it is lost, index the same sources again"
        )

    def __reduce__(self) -> tuple[type[MissingGenerationError], tuple[str]]:
        return type(self), (self.folder,)


class UnknownCollectionError(RetrievalError):
    """No collection has this name. name: the requested name. known: names of the existing collections."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        close = get_close_matches(name, self.known, n=1)
        meant = f"did you mean {close[0]!r}? The" if close else "the"
        listed = f"{meant} known ones are {', '.join(self.known)}" if known else "none has been indexed yet"
        super().__init__(f"there is no collection {name!r}; {listed}", parameter="collection")

    def __reduce__(self) -> tuple[type[UnknownCollectionError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.known)


class UnpublishedCollectionError(RetrievalError):
    """The collection has no published index yet. name: name of the collection."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"the collection {name!r} has no published index, because its indexing was not completed; "
            "index the same sources again",
            parameter="collection",
        )

    def __reduce__(self) -> tuple[type[UnpublishedCollectionError], tuple[str]]:
        return type(self), (self.name,)


class EngineError(RetrievalError):
    """An index engine refused a request or failed.

    engine: "pgvector" or "milvus". address: its address, without a password. reason: what failed, and what to do.
    """

    def __init__(self, engine: str, address: str, reason: str) -> None:
        self.engine, self.address, self.reason = engine, address, reason
        super().__init__(f"{engine} at {address}: {reason}" if address else f"{engine}: {reason}")

    def __reduce__(self) -> tuple[type[EngineError], tuple[str, str, str]]:
        return type(self), (self.engine, self.address, self.reason)


class EngineUnavailableError(EngineError):
    """The engine does not answer, or stopped during the call; the same call may succeed later."""


class GenerationGoneError(EngineError):
    """The generation is not in the engine: it was replaced or removed, or the address belongs to another server."""
