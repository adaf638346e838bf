"""Layout of the file of an exported collection: names of its members, number of the format, report."""

from __future__ import annotations

from dataclasses import dataclass

ARCHIVE_FORMAT = 1
"""Number of the format, which is incremented when the layout changes."""

HEADER = "plumbline-collection.json"
"""First member, with the format, the name, the manifest, and the size and hash of the documents."""

DOCUMENTS = "documents.jsonl"
"""Member with one document per line."""

SEARCH = "search"
"""Header field with the search parameters that a tuning run has saved."""

INDEX = "index/"
"""Prefix of the members that are index files, which the manifest lists."""


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """Summary of an export or import. documents, chunks: their numbers. bytes: size of the file."""

    collection: str
    generation_hash: str
    documents: int
    chunks: int
    bytes: int
