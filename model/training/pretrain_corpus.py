"""Write and read a tokenised corpus on disk: two streams of 16-bit token ids in shards.

A stream is a sequence of documents, each followed by an end token. "train" is for training. "validation" holds complete
documents that are not trained on. Writing can be resumed, and reading is memory-mapped.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.checkpoints.files import sha256_of, write_atomic, write_json
from model.errors import ModelError

Ids = NDArray[np.uint16]
FACTS, JOURNAL = "corpus.json", "unfinished.json"
_STREAMS: Final = ("train", "validation")
_TOKEN_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a stream. name: file name. tokens: number of tokens. sha256: hash of the file (hex)."""

    name: str
    stream: str
    tokens: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """Contents of corpus.json.

    identity: origin of the corpus, as text chosen by the caller. end_id: id of the end token. documents: number of
    documents, including ``validation_documents`` in the validation stream. skipped: items of the source that were left
    out. shards: files of both streams, in order.
    """

    identity: str
    end_id: int
    documents: int
    validation_documents: int
    skipped: tuple[str, ...]
    shards: tuple[Shard, ...]

    def tokens(self, stream: str) -> int:
        """Return the number of tokens of a stream, including end tokens."""
        return sum(shard.tokens for shard in self.shards if shard.stream == stream)


class CorpusWriter:
    """A writer of a corpus folder. With the same identity it continues an unfinished corpus after ``documents``.

    shard_bytes: maximum size of a file.
    """

    def __init__(self, folder: Path, identity: str, *, end_id: int, shard_bytes: int) -> None:
        if shard_bytes < _TOKEN_BYTES:
            raise ModelError(f"shards of {shard_bytes} bytes: a token takes {_TOKEN_BYTES}")
        self._folder, self._identity, self._end = folder, identity, np.array([end_id], dtype=np.uint16)
        self._limit = shard_bytes // _TOKEN_BYTES
        self._pending: dict[str, list[Ids]] = {stream: [] for stream in _STREAMS}
        self._pending_tokens = 0
        self._facts = CorpusFacts(identity, end_id, 0, 0, (), ())
        folder.mkdir(parents=True, exist_ok=True)
        found = _read_facts(folder / JOURNAL)
        if found is not None and found.identity == identity and _damaged(folder, found) is None:
            self._facts = found
        self._documents, self._held_out_documents = self._facts.documents, self._facts.validation_documents

    @property
    def documents(self) -> int:
        """Number of documents written so far, including earlier runs."""
        return self._documents

    def add(self, ids: Ids, *, held_out: bool) -> None:
        """Append a document's ids (T,) and the end token. held_out: whether it goes to the validation stream."""
        if self._pending_tokens and self._pending_tokens + len(ids) + 1 > self._limit:
            self.flush()
        self._pending["validation" if held_out else "train"] += [ids, self._end]
        self._pending_tokens += len(ids) + 1
        self._documents += 1
        self._held_out_documents += held_out

    def flush(self) -> None:
        """Write pending documents, so that a later kill does not lose them. Raises ModelError if the disk is full."""
        shards = list(self._facts.shards)
        try:
            for stream, parts in self._pending.items():
                ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint16)
                for start in range(0, len(ids), self._limit):  # one document may be longer than a shard
                    piece = ids[start : start + self._limit]
                    number = sum(shard.stream == stream for shard in shards)
                    name = f"{stream}-{number:05d}.tokens"
                    write_atomic(self._folder / name, piece.astype("<u2").tobytes())
                    shards.append(Shard(name, stream, len(piece), sha256_of(self._folder / name)))
            facts = CorpusFacts(
                self._identity,
                int(self._end[0]),
                self._documents,
                self._held_out_documents,
                self._facts.skipped,
                tuple(shards),
            )
            write_json(self._folder / JOURNAL, asdict(facts))
        except OSError as error:
            raise ModelError(
                f"the tokenised corpus {self._folder} could not be written ({error}); {self._facts.documents} "
                "documents are kept: free disk space and run the same command again"
            ) from error
        self._facts, self._pending_tokens = facts, 0
        self._pending = {stream: [] for stream in _STREAMS}

    def finish(self, skipped: tuple[str, ...]) -> CorpusFacts:
        """Write pending documents and corpus.json, which completes the corpus. skipped: see CorpusFacts."""
        self._facts = replace(self._facts, skipped=skipped)
        self.flush()
        (self._folder / JOURNAL).replace(self._folder / FACTS)
        return self._facts


class TokenStream:
    """One stream of a corpus, memory-mapped."""

    def __init__(self, folder: Path, facts: CorpusFacts, stream: str) -> None:
        shards = [shard for shard in facts.shards if shard.stream == stream]
        self._maps = [np.memmap(folder / shard.name, dtype="<u2", mode="r") for shard in shards]
        self._starts = [0]
        for shard in shards:
            self._starts.append(self._starts[-1] + shard.tokens)

    def __len__(self) -> int:
        return self._starts[-1]

    def read(self, start: int, count: int) -> NDArray[np.int64]:
        """Return ``count`` ids from position ``start`` on: (count,). The stream is circular.

        Raises ModelError if the stream is empty or ``count`` exceeds its length.
        """
        if not 0 < count <= len(self):
            raise ModelError(f"{count} tokens were requested from a stream of {len(self)}")
        parts: list[Ids] = []
        offset, missing = start % len(self), count
        while missing:
            shard = bisect_right(self._starts, offset) - 1
            inside = offset - self._starts[shard]
            part = self._maps[shard][inside : inside + missing]
            parts.append(part)
            missing -= len(part)
            offset = (offset + len(part)) % len(self)
        return np.concatenate(parts).astype(np.int64)


def open_corpus(folder: Path) -> CorpusFacts | None:
    """Return the facts of a finished corpus after checking every shard; None if it is not finished.

    Raises ModelError, naming the shard, if one is missing or damaged.
    """
    facts = _read_facts(folder / FACTS)
    if facts is None:
        return None
    damage = _damaged(folder, facts)
    if damage is not None:
        raise ModelError(
            f"{folder / damage} is missing or damaged: fetch it again, or remove {folder} to tokenise again"
        )
    return facts


def _damaged(folder: Path, facts: CorpusFacts) -> str | None:
    for shard in facts.shards:
        path = folder / shard.name
        if not path.is_file() or sha256_of(path) != shard.sha256:
            return shard.name
    return None


def _read_facts(path: Path) -> CorpusFacts | None:
    """Return the facts in a file; None if it is missing or invalid, so that the corpus is rebuilt."""
    try:
        value = json.loads(path.read_text("utf-8"))
        fields = {**value, "shards": tuple(Shard(**s) for s in value["shards"]), "skipped": tuple(value["skipped"])}
        return CorpusFacts(**fields)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
