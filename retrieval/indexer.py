"""The indexing job: a stream of documents in, a published generation out; may be killed at any point and run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from data.documents import Document
from data.refused import Refused
from data.store import Store
from retrieval.bm25 import Bm25Builder, Bm25Params, LexicalIndex
from retrieval.chunk_vectors import chunk_vectors, text_hash
from retrieval.chunking import ChunkingParams, chunk_spans, chunks_from_spans, searchable_text
from retrieval.collection_folder import collection_lock, generations_folder
from retrieval.dense import build_flat
from retrieval.document_versions import StoredVersion, read_documents
from retrieval.encoder import Encoder
from retrieval.errors import RetrievalError
from retrieval.generations import ChunkTable, check_folder, load_table, remove_other_generations, write_generation
from retrieval.index_params import IndexParams
from retrieval.index_report import IndexPhase, IndexProgress, IndexReport
from retrieval.manifest import DocumentVersion, Manifest
from retrieval.publishing import PublishedGeneration, current_generation, generation_versions, publish_generation
from retrieval.sentences import Span
from retrieval.source_reading import SourceContent, read_source
from retrieval.tokenising import TokenisingParams, tokenise_all

ProgressListener = Callable[[IndexProgress], None]
_SPECIAL_TOKENS = 2


def index_documents(
    store: Store,
    home: Path,
    collection: str,
    source: Iterable[Document | Refused],
    encoder: Encoder,
    chunking: ChunkingParams | None = None,
    tokenising: TokenisingParams | None = None,
    bm25: Bm25Params | None = None,
    progress: ProgressListener | None = None,
    documents_per_commit: int = 200,
    characters_per_commit: int = 8_000_000,
    texts_per_call: int = 128,
) -> IndexReport:
    """Make the collection hold exactly the source's documents, and publish an index of them.

    The source is the whole new content: documents that it lacks are removed. Nothing answers differently before the new
    generation is published, in one transaction, at the very end. Documents and vectors are committed on the way, so
    that a run that was killed is taken up where it stopped and ends in the same generation hash; only text that no run
    has embedded is embedded. ``progress`` is called after every commit; what it raises ends the run like a kill.

    Raises RetrievalError for a bad name, another run on the same collection, parameters that the encoder cannot serve,
    a source without a document, or an encoder that gives no usable vectors; the old generation keeps answering.
    """
    started = perf_counter()
    params = IndexParams(chunking or ChunkingParams(), tokenising or TokenisingParams(), bm25 or Bm25Params())
    if params.chunking.max_tokens + _SPECIAL_TOKENS > encoder.max_tokens:
        raise RetrievalError(
            f"chunks of {params.chunking.max_tokens} tokens do not fit the encoder, which reads {encoder.max_tokens} "
            f"with its {_SPECIAL_TOKENS} special ones; give a smaller max_tokens"
        )
    job = _Job(store, home, collection, encoder, params, progress or (lambda _: None), texts_per_call)
    with collection_lock(home, collection):
        before = job.before()
        remove_other_generations(job.folder, before.published.hash if before.published else None)
        content = read_source(
            store,
            collection,
            source,
            documents_per_commit,
            characters_per_commit,
            lambda n: job.say("documents", n, None),
        )
        done = job.same(before, content) or job.build(before, content)
    new = {document_id: version.sha256 for document_id, version in content.versions}
    kept = sum(before.versions.get(document_id) == sha256 for document_id, sha256 in new.items())
    known = sum(document_id in before.versions for document_id in new)
    return IndexReport(
        collection=collection,
        generation_hash=done.hash,
        added=len(new) - known,
        changed=known - kept,
        unchanged=kept,
        removed=len(before.versions) - known,
        refused=content.refused,
        documents=len(new),
        chunks=done.chunks,
        embedded=done.embedded,
        reused=done.reused,
        rebuilt=done.rebuilt,
        seconds=perf_counter() - started,
    )


@dataclass(frozen=True, slots=True)
class _Before:
    """The generation that answers while the job runs. manifest: None if there is none or its files are damaged."""

    published: PublishedGeneration | None
    manifest: Manifest | None
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Done:
    hash: str
    chunks: int
    embedded: int
    reused: int
    rebuilt: bool


@dataclass(frozen=True, slots=True)
class _Cut:
    """Every chunk of every document: the table, a hash of each chunk's searchable text, and the word index."""

    table: ChunkTable
    hashes: Sequence[str]
    lexical: LexicalIndex


@dataclass(frozen=True, slots=True)
class _Job:
    store: Store
    home: Path
    collection: str
    encoder: Encoder
    params: IndexParams
    progress: ProgressListener
    texts_per_call: int

    @property
    def folder(self) -> Path:
        return generations_folder(self.home, self.collection)

    def say(self, phase: IndexPhase, done: int, total: int | None) -> None:
        self.progress(IndexProgress(phase, done, total))

    def before(self) -> _Before:
        with self.store.read() as connection:
            published = current_generation(connection, self.collection)
            versions = generation_versions(connection, published.key) if published else {}
        if published is None:
            return _Before(None, None, versions)
        try:
            manifest = Manifest.from_json(published.manifest, f"the published index of {self.collection!r}")
            check_folder(self.folder / manifest.hash, manifest)
        except RetrievalError:
            # A damaged generation is no reason to stop: rebuilding it is what the job is for.
            return _Before(published, None, versions)
        return _Before(published, manifest, versions)

    def same(self, before: _Before, content: SourceContent) -> _Done | None:
        """The published generation, if it is what the job would build."""
        manifest = before.manifest
        if manifest is None or manifest.params != self.params or manifest.encoder != self.encoder.fingerprint:
            return None
        if {document_id: version.sha256 for document_id, version in content.versions} != before.versions:
            return None
        return _Done(manifest.hash, manifest.chunks, embedded=0, reused=manifest.chunks, rebuilt=False)

    def build(self, before: _Before, content: SourceContent) -> _Done:
        versions = tuple(version for _, version in content.versions)
        cut = self.cut(content, self.known_spans(before))
        found = chunk_vectors(
            self.store,
            self.encoder,
            cut.hashes,
            lambda positions: self.texts(cut.table, versions, positions),
            self.texts_per_call,
            lambda done, total: self.say("vectors", done, total),
        )
        self.say("publishing", 0, 1)
        manifest = write_generation(
            self.folder, cut.table, build_flat(found.vectors), cut.lexical, self.params, self.encoder.fingerprint
        )
        relative = (self.folder / manifest.hash).relative_to(self.home)
        publish_generation(self.store, content.collection_id, manifest, relative, versions)
        remove_other_generations(self.folder, manifest.hash)
        self.say("publishing", 1, 1)
        return _Done(manifest.hash, manifest.chunks, found.embedded, found.reused, rebuilt=True)

    def known_spans(self, before: _Before) -> Mapping[DocumentVersion, Sequence[Span]]:
        """Where the chunks of the published documents lie, if cutting them again would give the same."""
        manifest = before.manifest
        if manifest is None or (manifest.params.chunking, manifest.encoder) != (
            self.params.chunking,
            self.encoder.fingerprint,
        ):
            return {}
        table = load_table(self.folder / manifest.hash)
        spans: dict[DocumentVersion, list[Span]] = {version: [] for version in table.versions}
        for place, start, end in table.rows.tolist():
            spans[table.versions[place]].append(Span(start, end))
        return spans

    def cut(self, content: SourceContent, known: Mapping[DocumentVersion, Sequence[Span]]) -> _Cut:
        versions = tuple(DocumentVersion(document_id, version.sha256) for document_id, version in content.versions)
        rows: list[tuple[int, int, int]] = []
        hashes: list[str] = []
        words = Bm25Builder(self.params.bm25)
        stored = read_documents(self.store, [version for _, version in content.versions])
        for place, item in enumerate(stored):
            document = item.document
            spans = known.get(versions[place])
            if spans is None:
                spans = chunk_spans(document.text, self.encoder.count_tokens, self.params.chunking)
            texts = [searchable_text(chunk) for chunk in chunks_from_spans(document, spans)]
            rows.extend((place, span.start, span.end) for span in spans)
            hashes.extend(text_hash(text) for text in texts)
            for tokens in tokenise_all(texts, self.params.tokenising):
                words.add(tokens)
            if place % 50 == 49 or place == len(versions) - 1:
                self.say("chunks", place + 1, len(versions))
        table = ChunkTable(versions, np.asarray(rows, dtype=np.int64).reshape(-1, 3))
        return _Cut(table, hashes, words.build())

    def texts(self, table: ChunkTable, versions: Sequence[StoredVersion], positions: Sequence[int]) -> Iterator[str]:
        """The searchable texts of the chunks at these ascending positions."""
        by_place: dict[int, list[Span]] = {}
        for place, start, end in table.rows[list(positions)].tolist():
            by_place.setdefault(place, []).append(Span(start, end))
        stored = read_documents(self.store, [versions[place] for place in by_place])
        for item, spans in zip(stored, by_place.values(), strict=True):
            yield from (searchable_text(chunk) for chunk in chunks_from_spans(item.document, spans))
