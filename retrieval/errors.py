"""Errors of the retrieval room that a caller can act on."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from plumbline_errors import PlumblineError


class RetrievalError(PlumblineError):
    """An index, a collection or a query is wrong; the message names what, where and what to do."""


class CollectionBusyError(RetrievalError):
    """Another process writes the collection; the same call may succeed later."""


class UnknownCollectionError(RetrievalError):
    """There is no collection of this name. name: the one asked for; known: those there are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        close = get_close_matches(name, self.known, n=1)
        meant = f"did you mean {close[0]!r}? The" if close else "the"
        listed = f"{meant} known ones are {', '.join(self.known)}" if known else "none has been indexed yet"
        super().__init__(f"there is no collection {name!r}; {listed}", parameter="collection")

    def __reduce__(self) -> tuple[type[UnknownCollectionError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.known)


class UnpublishedCollectionError(RetrievalError):
    """The collection has no published index yet. name: its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"the collection {name!r} has no published index: its indexing did not end; index the same sources again",
            parameter="collection",
        )

    def __reduce__(self) -> tuple[type[UnpublishedCollectionError], tuple[str]]:
        return type(self), (self.name,)
