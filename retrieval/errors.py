"""Errors of the retrieval room that a caller can act on."""


class RetrievalError(Exception):
    """An index, a collection or a query is wrong; the message names what, where and what to do."""


class CollectionBusyError(RetrievalError):
    """Another process writes the collection; the same call may succeed later."""
