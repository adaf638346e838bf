"""The documents that training makes rows from; a place that gives none is an error, and no silent absence of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from data.documents import Document
from data.errors import DataError
from data.loaders import load_documents
from data.refused import Refused


def training_documents(paths: Sequence[Path]) -> Iterator[Document]:
    """The documents of each path, in order; those that cannot be read are left out.

    Raises DataError when one of the paths gives none, with the first reason, and as load_documents does.
    """
    for path in paths:
        first: Refused | None = None
        any_read = False
        for item in load_documents([path]):
            if isinstance(item, Document):
                any_read = True
                yield item
            elif first is None:
                first = item
        if not any_read:
            raise DataError(f"no document to make anything from: {first or f'{path} holds none'}")
