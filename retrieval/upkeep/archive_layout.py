"""Layout of an exported collection: member names, format number and report."""

from __future__ import annotations

from dataclasses import dataclass

ARCHIVE_FORMAT = 1
"""Incremented when the layout changes."""

HEADER = "plumbline-collection.json"
"""The first member: format, name, manifest, and the size and hash of the documents."""

DOCUMENTS = "documents.jsonl"
"""One document a line."""

SEARCH = "search"
"""Header field with the search parameters saved by a tuning run."""

INDEX = "index/"
"""Prefix of the files that the manifest lists."""


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """Contents of an export or import. bytes: size of the file."""

    collection: str
    generation_hash: str
    documents: int
    chunks: int
    bytes: int
