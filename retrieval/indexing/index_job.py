"""The stages of an indexing job: read, chunk and embed the source, then build and publish a generation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from data.documents import Document
from data.refused import Refused
from data.store import Lock, Store
from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.encoder import Encoder, PicklableCounting
from retrieval.engines.engines import EngineTarget
from retrieval.engines.record import EngineName, EngineRecord
from retrieval.errors import EngineUnavailableError, RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.folder import load_indexes, remove_other_generations, write_generation
from retrieval.generations.index_params import IndexParams
from retrieval.generations.manifest import Manifest, generation_hash
from retrieval.generations.publishing import publish_generation
from retrieval.indexing.assembly import IndexAssembly, chunk_rows
from retrieval.indexing.chunker_pool import ChunkerPool
from retrieval.indexing.chunking_stage import ChunkingStage, KnownSpans, chunk_batches
from retrieval.indexing.embedding import Embedder, EmbeddingResult, embed_stream
from retrieval.indexing.index_target import IndexTarget
from retrieval.indexing.indexed_encoder import published_engine
from retrieval.indexing.job_params import JobParams
from retrieval.indexing.prefetch import Prefetcher
from retrieval.indexing.pruning import prune_collection
from retrieval.indexing.published_before import PublishedBefore
from retrieval.indexing.reading import Reading, read_source
from retrieval.indexing.report import IndexPhase, IndexProgress
from retrieval.vectors.params import resolved_kind

ProgressListener = Callable[[IndexProgress], None]
_AHEAD = 1000
"""Largest number of batches (of up to characters_per_commit) that a stage may be ahead of the next one.

The queues are small: row numbers between reading and chunking, and then 48 bytes per chunk, which the job keeps anyway.
"""


@dataclass(frozen=True, slots=True)
class PublishedIndex:
    """The generation that a job has published, or has found unchanged.

    index: kind of the vector index. recall: recall of an approximate index, None for an exact one. rebuilt: whether the
    generation was built by this job.
    """

    hash: str
    chunks: int
    index: str
    recall: float | None
    engine: EngineName
    rebuilt: bool


@dataclass(frozen=True, slots=True)
class IndexJob:
    """An indexing job.

    batching: batch sizes and number of processes. target: destination of the indexes. record: record of the new
    generation in an engine, None for files.
    """

    store: Store
    home: Path
    collection: str
    encoder: Encoder
    params: IndexParams
    progress: ProgressListener
    batching: JobParams
    target: IndexTarget
    record: EngineRecord | None = None

    @property
    def folder(self) -> Path:
        """Folder of the collection's generations."""
        return generations_folder(self.home, self.collection)

    def report(self, phase: IndexPhase, done: int, total: int | None) -> None:
        """Report that ``done`` of ``total`` items of a phase are done. total: None if unknown."""
        self.progress(IndexProgress(phase, done, total))

    def engine_record(self, before: PublishedBefore) -> EngineRecord | None:
        """Return the record of a new generation in an engine; None for files.

        Raises EngineError if the engine does not answer or does not support the parameters.
        """
        published = published_engine(before.published)
        name = self.target.vectors or (published.name if published else "local")
        if name == "local":
            return None
        record = self.target.engines.record(name, published.address if published and published.name == name else "")
        self.target.engines.of(record).check(self.params.dense, self.params.bm25, self.encoder.dimension)
        return record

    def stream(
        self, before: PublishedBefore, source: Iterable[Document | Refused], reading: Reading
    ) -> EmbeddingResult:
        """Read, chunk and embed the source concurrently. The result is sorted by document ID.

        reading: progress of reading, updated in place.
        """
        chunking = ChunkingStage()
        embedded = gathered = 0

        def show_progress() -> None:
            self.report("documents", reading.documents, reading.documents if reading.ended else None)
            self.report("chunks", chunking.documents, reading.documents if reading.ended else None)
            self.report("vectors", embedded, gathered if chunking.ended else None)

        def on_gathered(texts: int) -> None:
            nonlocal gathered
            gathered = texts
            show_progress()

        def on_embedded(texts: int) -> None:
            nonlocal embedded
            embedded += texts
            show_progress()

        batching = self.batching
        with ChunkerPool(self.counter(), self.params.chunking, batching.workers) as chunkers:
            read = read_source(
                self.store,
                self.collection,
                source,
                batching.documents_per_commit,
                batching.characters_per_commit,
                reading,
            )
            batches = Prefetcher(read, _AHEAD)
            chunked = Prefetcher(
                chunk_batches(self.store, batches, self.known_spans(before), chunkers, chunking), _AHEAD
            )
            # Closed in this order, so that the consumer of the reader receives the end of its items.
            with chunked, batches:
                try:
                    content = embed_stream(
                        chunked, lambda key: self.embedder(key, on_embedded), batching.texts_per_window, on_gathered
                    )
                except BaseException:
                    reading.stopped = True  # checked for each document, because a batch may contain many large files
                    raise
        show_progress()
        return replace(content, documents=tuple(sorted(content.documents, key=lambda item: item.document_id)))

    def counter(self) -> TokenCounter:
        """Return the token counter, which is picklable if there are worker processes.

        Raises RetrievalError if the encoder's counter cannot be pickled.
        """
        if not self.batching.workers:
            return self.encoder.count_tokens
        if not isinstance(self.encoder, PicklableCounting):
            raise RetrievalError(
                f"this encoder's token counter cannot be sent to {self.batching.workers} worker processes; index with "
                "workers=0"
            )
        return self.encoder.portable_counter()

    def embedder(self, collection_id: int, progress: Callable[[int], None]) -> Embedder:
        """Return the embedder of a collection. progress: called with the number of texts of each batch."""
        return Embedder(self.store, self.encoder, collection_id, self.batching.texts_per_call, progress)

    def known_spans(self, before: PublishedBefore) -> KnownSpans:
        """Return the chunk spans of the published documents, if chunking them again would give the same."""
        manifest = before.manifest
        if manifest is None or (manifest.params.chunking, manifest.encoder) != (
            self.params.chunking,
            self.encoder.fingerprint,
        ):
            return KnownSpans(None)
        return KnownSpans(before.table)

    def same(self, before: PublishedBefore, content: EmbeddingResult, compare_chunks: bool) -> PublishedIndex | None:
        """Return the published generation if the job would build the same one, otherwise None.

        compare_chunks: whether to compare the chunks too, because an earlier version of Plumbline chunked such texts
        differently.
        """
        manifest, table = before.manifest, before.table
        if manifest is None or table is None:
            return None
        if manifest.params != self.params:
            return None
        if (manifest.encoder, manifest.dimension) != (self.encoder.fingerprint, self.encoder.dimension):
            return None
        if not self.same_engine(manifest):
            return None
        if {item.document_id: item.version.sha256 for item in content.documents} != before.versions:
            return None
        if any(item.version.reoutlined for item in content.documents):
            return None
        if compare_chunks and not np.array_equal(table.rows, chunk_rows(content.documents)):
            return None
        return _published_index(manifest, rebuilt=False)

    def same_engine(self, manifest: Manifest) -> bool:
        """Return whether the published indexes are where the job would write them, and can be opened.

        Raises EngineUnavailableError if their engine does not answer.
        """
        record = self.record
        if manifest.engine is None or record is None:
            return manifest.engine is None and record is None
        if (manifest.engine.name, manifest.engine.address) != (record.name, record.address):
            return False
        try:
            load_indexes(self.folder / manifest.folder, manifest, self.target.engines)
        except EngineUnavailableError:
            raise
        except RetrievalError:  # the indexes are missing or damaged, so the job writes them again
            return False
        return True

    def build(self, before: PublishedBefore, content: EmbeddingResult, lock: Lock) -> PublishedIndex:
        """Build the generation and publish it. lock: the collection's lock, checked before publishing.

        Raises RetrievalError if the hash differs from the required one, and what ``write_generation`` raises.
        """
        build = partial(
            IndexAssembly,
            self.store,
            self.encoder,
            self.params,
            content.documents,
            lambda: self.embedder(content.collection_id, lambda _: None),
            lambda done, total: self.report("words", done, total),
            lambda done, total: self.progress(
                IndexProgress("index", done, total, resolved_kind(self.params.dense, total))
            ),
        )
        table = build().table()
        new_hash = generation_hash(table.versions, table.rows, self.params, self.encoder.fingerprint)
        if self.target.expected_hash not in (None, new_hash):
            raise RetrievalError(
                f"these documents and parameters give the generation {new_hash[:12]}, not {self.target.expected_hash}; "
                "nothing was published. Index the same sources again"
            )
        record, target = self.record, None
        if record is not None:
            target = EngineTarget(self.target.engines.of(record), record, new_hash, self.collection)
        manifest = write_generation(
            self.folder,
            table,
            self.params,
            self.encoder.fingerprint,
            build(target=target).write,
            self.target.engines,
            record,
        )
        self.report("publishing", 0, 1)
        relative = (self.folder / manifest.folder).relative_to(self.home)
        versions = [item.version for item in content.documents]
        lock.check()
        publish_generation(self.store, content.collection_id, manifest, relative, versions)
        kept = [(self.encoder.fingerprint, table.texts)]
        if before.manifest is not None and before.table is not None:
            # Keep the vectors of the previous generation, so that reverting to its content needs no embedding.
            kept.append((before.manifest.encoder, before.table.texts))
        prune_collection(self.store, self.home, content.collection_id, kept)
        keep = [manifest.folder]
        if before.manifest is not None and before.manifest.engine is not None:
            # Open readers still use the tables of the previous generation. The next job removes them.
            keep.append(before.manifest.folder)
        remove_other_generations(self.folder, keep, self.target.engines)
        self.report("publishing", 1, 1)
        return _published_index(manifest, rebuilt=True)


def _published_index(manifest: Manifest, *, rebuilt: bool) -> PublishedIndex:
    recall = float(manifest.recall["recall"]) if manifest.recall is not None else None
    return PublishedIndex(manifest.hash, manifest.chunks, manifest.index, recall, manifest.engine_name, rebuilt)
