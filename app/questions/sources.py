"""Read the documents from which questions are generated."""

from __future__ import annotations

import random

from app.errors import AppError
from data.store import Store
from generation.question_sets.candidate import SourceText
from retrieval.generations.contents import find_document, list_documents

_MOST_CHARACTERS = 60_000  # maximum number of characters of a document that are used
_PAGE = 10_000


def source_texts(store: Store, collection: str, most: int, seed: int) -> tuple[SourceText, ...]:
    """Return at most ``most`` documents of a collection, drawn at random and sorted by ID.

    Raises AppError if the collection is empty.
    """
    ids: list[str] = []
    while True:
        page = list_documents(store, collection, _PAGE, len(ids))
        ids += [facts.id for facts in page.documents]
        if len(ids) >= page.total or not page.documents:
            break
    if not ids:
        raise AppError(f"the collection {collection!r} holds no document: index some with plumbline index")
    drawn = sorted(random.Random(f"documents:{seed}").sample(ids, min(most, len(ids))))
    found = (find_document(store, collection, document_id) for document_id in drawn)
    return tuple(SourceText(d.id, d.title or "", d.text[:_MOST_CHARACTERS]) for d in found if d is not None)
