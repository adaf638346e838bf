"""The manifest of an index generation: what is in its folder, and the hash that names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import RetrievalError
from retrieval.index_params import IndexParams

FORMAT = 1
"""Raised by one whenever the same documents and parameters would give other chunks, words or files."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the folder: its name, size in bytes and SHA-256 (hex)."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document's id and the SHA-256 (hex) of the title and text it had."""

    document_id: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """hash: the generation's. encoder: its fingerprint. dimension: E. documents, chunks: how many."""

    hash: str
    params: IndexParams
    encoder: str
    dimension: int
    documents: int
    chunks: int
    files: tuple[FileEntry, ...]
    format: int = FORMAT

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any, where: str) -> Manifest:
        """Back from ``to_json``. Raises RetrievalError, naming ``where``, if it is something else."""
        try:
            if value["format"] != FORMAT:
                raise RetrievalError(
                    f"{where} has the index format {value['format']}, this version reads {FORMAT}; "
                    "index the collection again"
                )
            return cls(
                hash=str(value["hash"]),
                params=IndexParams.from_json(value["params"]),
                encoder=str(value["encoder"]),
                dimension=int(value["dimension"]),
                documents=int(value["documents"]),
                chunks=int(value["chunks"]),
                files=tuple(FileEntry(str(f["name"]), int(f["bytes"]), str(f["sha256"])) for f in value["files"]),
                format=FORMAT,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RetrievalError(f"{where} is not a manifest ({error!r}); index the collection again") from error


def generation_hash(
    versions: Sequence[DocumentVersion],
    chunks: Sequence[Sequence[int]],
    params: IndexParams,
    encoder: str,
) -> str:
    """SHA-256 (hex) of canonical JSON over everything that determines what an index answers.

    versions: sorted by document id. chunks: (N, 3) rows of place in ``versions``, start, end. encoder: fingerprint. The
    vectors' bytes are left out: they differ in the last bits between machines, and the encoder determines them.
    """
    content = {
        "format": FORMAT,
        "documents": [[version.document_id, version.sha256] for version in versions],
        "chunks": [list(chunk) for chunk in chunks],
        "parameters": params.to_json(),
        "encoder": encoder,
    }
    return hashlib.sha256(canonical_json(content)).hexdigest()


def canonical_json(value: Any) -> bytes:
    """One byte string for equal values: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def describe_file(path: Path) -> FileEntry:
    """Name, size and SHA-256 of a file."""
    with path.open("rb") as file:
        return FileEntry(path.name, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def damaged_files(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """What is wrong with the folder's files, each line with the file's path; empty if all are as the manifest says."""
    problems: list[str] = []
    for entry in manifest.files:
        path = folder / entry.name
        try:
            found = describe_file(path)
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror})")
            continue
        if found.bytes != entry.bytes:
            problems.append(f"{path} has {found.bytes} bytes, not {entry.bytes}")
        elif found.sha256 != entry.sha256:
            problems.append(f"{path} has changed since it was written (SHA-256 {found.sha256}, not {entry.sha256})")
    return tuple(problems)
