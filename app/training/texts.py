"""Read documents for training data. A path without documents is an error, so that data is never missing silently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from data.documents import Document
from data.errors import DataError
from data.loaders import load_documents
from data.refused import Refused


def training_documents(paths: Sequence[Path]) -> Iterator[Document]:
    """Yield the documents of each path, in order. Documents that cannot be read are skipped.

    Raises DataError if a path has no documents, and the errors of load_documents.
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
            raise DataError(f"no document to generate data from: {first or f'{path} holds none'}")
