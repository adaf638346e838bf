"""Manifests of index generations, which list the files of a generation and contain its hash."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.plain_file import open_plain, read_plain_text
from retrieval.engines.engine import IndexFacts
from retrieval.engines.record import EngineName, EngineRecord
from retrieval.errors import RetrievalError
from retrieval.generations.index_params import IndexParams

_SHA256 = re.compile(r"[0-9a-f]{64}")

FORMAT = 2
"""Incremented whenever the same documents and parameters would give other chunks, words or files."""

MANIFEST = "manifest.json"
"""Name of the file that lists the other files of the folder."""
MAX_MANIFEST_BYTES = 1 << 20
"""Greatest size of that file in bytes."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the folder: name, size in bytes and SHA-256 (hex)."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document's id and the SHA-256 (hex) of its title and text."""

    document_id: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a generation.

    hash: hash of the generation. encoder: fingerprint of the encoder. dimension: length of a vector. documents, chunks:
    numbers of documents and chunks. files: the folder's other files. index: kind of the vector index ("flat", "hnsw",
    ...). recall: recall of an approximate index against exact search, measured at build time
    (retrieval/vectors/recall.py); None for an exact index. engine: engine of the indexes, None for files in the folder;
    it does not change the hash.
    """

    hash: str
    params: IndexParams
    encoder: str
    dimension: int
    documents: int
    chunks: int
    files: tuple[FileEntry, ...]
    index: str = "flat"
    recall: Mapping[str, Any] | None = None
    format: int = FORMAT
    engine: EngineRecord | None = None

    @property
    def folder(self) -> str:
        """Name of the generation's folder: the hash, followed by the build ID if an engine holds the indexes."""
        return self.hash if self.engine is None else f"{self.hash}-{self.engine.build_id}"

    @property
    def engine_name(self) -> EngineName:
        """Name of the engine that holds the indexes."""
        return "local" if self.engine is None else self.engine.name

    def index_facts(self) -> IndexFacts:
        """Return the description that an engine needs to open the indexes."""
        depth = self.recall["search_depth"] if self.recall is not None else None
        return IndexFacts(self.hash, self.chunks, self.dimension, self.index, depth, self.params.bm25)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object, without ``engine`` if the indexes are files in the folder."""
        value = {**asdict(self), "params": self.params.to_json(), "files": [asdict(entry) for entry in self.files]}
        if self.engine is None:
            del value["engine"]
        return value

    @classmethod
    def from_json(cls, value: Any, where: str) -> Manifest:
        """Parse the output of ``to_json``. Raises RetrievalError, naming ``where``, if it is invalid."""
        try:
            if value["format"] != FORMAT:
                raise RetrievalError(
                    f"{where} has the index format {value['format']}, this version reads {FORMAT}; "
                    "index the collection again"
                )
            return cls(
                hash=_checked_hash(value["hash"]),
                params=IndexParams.from_json(value["params"]),
                encoder=str(value["encoder"]),
                dimension=int(value["dimension"]),
                documents=int(value["documents"]),
                chunks=int(value["chunks"]),
                files=tuple(_parse_entry(entry) for entry in value["files"]),
                index=str(value["index"]),
                recall=dict(value["recall"]) if value["recall"] is not None else None,
                format=FORMAT,
                engine=EngineRecord.from_json(value["engine"]) if "engine" in value else None,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RetrievalError(f"{where} is not a manifest ({error!r}); index the collection again") from error


def _checked_hash(value: Any) -> str:
    """Return a SHA-256, which becomes a folder name. Raises ValueError if it is invalid."""
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"{value!r} is not a SHA-256")
    return value


def _parse_entry(value: Any) -> FileEntry:
    """Parse a file entry. Raises ValueError if the name, which is joined to a folder, is not a plain file name."""
    name = str(value["name"])
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is not a plain file name")
    return FileEntry(name, int(value["bytes"]), str(value["sha256"]))


def generation_hash(
    versions: Sequence[DocumentVersion],
    chunks: NDArray[np.int64],
    params: IndexParams,
    encoder: str,
) -> str:
    """Return the SHA-256 (hex) of everything that determines the results of an index, as canonical JSON.

    versions: document versions, sorted by document ID. chunks: (N, 3) rows of index into ``versions``, start, end.
    encoder: fingerprint of the encoder. The bytes of the vectors are not hashed: the encoder determines them, and their
    last bits differ between machines.
    """
    content = {
        "format": FORMAT,
        "documents": [[version.document_id, version.sha256] for version in versions],
        "chunks": hashlib.sha256(np.ascontiguousarray(chunks, dtype="<i8").tobytes()).hexdigest(),
        "parameters": params.to_json(),
        "encoder": encoder,
    }
    return hashlib.sha256(canonical_json(content)).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Serialise a value to the same bytes for equal values: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def describe_file(path: Path, expected: int | None = None) -> FileEntry:
    """Return name, size and SHA-256 of a regular file. Raises OSError if it is unreadable or not a regular file.

    expected: expected size in bytes. A file of another size is not hashed, and its SHA-256 is "".
    """
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if expected is not None and size != expected:
            return FileEntry(path.name, size, "")
        return FileEntry(path.name, size, hashlib.file_digest(file, "sha256").hexdigest())


def read_manifest_copy(folder: Path) -> Any:
    """Read the JSON of the manifest copy in a generation folder.

    Raises OSError if it is unreadable, too large or not a regular file, and ValueError if it is not JSON.
    """
    try:
        return json.loads(read_plain_text(folder / MANIFEST, MAX_MANIFEST_BYTES))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def damaged_files(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """Return one line for each file that differs from the manifest, with its path; empty if all match."""
    problems: list[str] = []
    listed = {entry.name for entry in manifest.files}
    # A file that is not listed was never verified, but could be read.
    unexpected = sorted(path.name for path in folder.iterdir() if path.name not in listed) if folder.is_dir() else []
    problems += [f"{folder / name} does not belong to this index" for name in unexpected if name != MANIFEST]
    for entry in manifest.files:
        path = folder / entry.name
        try:
            found = describe_file(path, entry.bytes)
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror})")
            continue
        if found.bytes != entry.bytes:
            problems.append(f"{path} has {found.bytes} bytes, not {entry.bytes}")
        elif found.sha256 != entry.sha256:
            problems.append(f"{path} has changed since it was written (SHA-256 {found.sha256}, not {entry.sha256})")
    return tuple(problems)
