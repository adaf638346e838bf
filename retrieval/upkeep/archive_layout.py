"""How an exported collection is laid out in its file: names, the format's number, and what a move reports."""

from __future__ import annotations

from dataclasses import dataclass

ARCHIVE_FORMAT = 1
"""Raised by one when the layout changes."""

HEADER = "plumbline-collection.json"
"""The first member: format, name, manifest, and the size and hash of the documents."""

DOCUMENTS = "documents.jsonl"
"""One document a line."""

SEARCH = "search"
"""In the header: how the collection is searched, where ``plumbline tune`` chose."""

INDEX = "index/"
"""Before the name of each file that the manifest lists."""


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What was written or taken in. bytes: of the file."""

    collection: str
    generation_hash: str
    documents: int
    chunks: int
    bytes: int
