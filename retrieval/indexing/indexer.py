"""The indexing job: reads a stream of documents and publishes a generation. It can be killed at any point and resumed.

Reading, chunking and embedding run concurrently. Intermediate results are in the database, not in memory.
docs/indexing.md describes the memory use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from data.documents import Document
from data.refused import Refused
from data.store import Lock, Store
from retrieval.chunking.chunker import ChunkingParams, TokenCounter
from retrieval.encoding.adapted import adapted
from retrieval.encoding.encoder import Encoder, PicklableCounting, ReleasableEncoder
from retrieval.engines.engines import LOCAL, Engines, EngineTarget
from retrieval.engines.record import EngineName, EngineRecord
from retrieval.errors import EngineUnavailableError, RetrievalError
from retrieval.generations.collection_folder import collection_lock, generations_folder
from retrieval.generations.folder import load_indexes, remove_other_generations, write_generation
from retrieval.generations.index_params import IndexParams
from retrieval.generations.manifest import Manifest, generation_hash
from retrieval.generations.publishing import publish_generation
from retrieval.indexing.assembly import IndexAssembly, chunk_rows
from retrieval.indexing.chunker_pool import ChunkerPool
from retrieval.indexing.chunking_stage import ChunkingStage, KnownSpans, cut_batches
from retrieval.indexing.embedding import Embedder, EmbeddingResult, embed_stream
from retrieval.indexing.indexed_encoder import indexed_in, indexed_with
from retrieval.indexing.job_params import JobParams
from retrieval.indexing.prefetch import Prefetcher
from retrieval.indexing.pruning import prune_collection
from retrieval.indexing.published_before import PublishedBefore, published_before
from retrieval.indexing.reading import Reading, read_source
from retrieval.indexing.report import IndexPhase, IndexProgress, IndexReport
from retrieval.sparse.bm25 import Bm25Params
from retrieval.sparse.tokenising import TokenisingParams
from retrieval.vectors.params import DenseParams, resolved_kind

__all__ = ["JobParams", "ProgressListener", "index_documents"]

ProgressListener = Callable[[IndexProgress], None]
_SPECIAL_TOKENS = 2
# Maximum number of batches (of up to characters_per_commit) that a stage may be ahead. Between reading and chunking
# only row numbers are queued; after chunking 48 bytes a chunk, which the job keeps until its end anyway.
_AHEAD = 1000


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
    dense: DenseParams | None = None,
    job: JobParams | None = None,
    expected_hash: str | None = None,
    vectors: EngineName | None = None,
    engines: Engines = LOCAL,
    rewrite: bool = False,
) -> IndexReport:
    """Make the collection hold exactly the source's documents, and publish an index of them.

    The source is the complete new content: documents that it lacks are removed. It is iterated in a thread. Queries see
    no change until the new generation is published, in one transaction, at the very end. Documents and vectors are
    committed on the way, so that a killed run resumes where it stopped and gives the same generation hash; only texts
    without a stored vector are embedded. ``progress`` is called repeatedly in this thread; an exception from it ends
    the run like a kill. expected_hash: required generation hash, if known. An encoder with several precisions uses the
    collection's own (retrieval/encoding/adapted.py). vectors: where the indexes go; None for the collection's own,
    and for files if it is new. engines: addresses. rewrite: write the indexes even if nothing has changed.

    Raises RetrievalError for an invalid name, a concurrent run on the same collection, parameters that the encoder
    cannot serve, a source without documents, an encoder without usable vectors, or a generation that differs from
    expected_hash; EngineError if the engine does not answer or cannot hold such indexes. Raises OSError or DataError if
    the disk is full or read-only. In all cases the old generation keeps answering.
    """
    started = perf_counter()
    params = IndexParams(
        chunking or ChunkingParams(),
        tokenising or TokenisingParams(cjk="auto"),
        bm25 or Bm25Params(),
        dense or DenseParams(),
    )
    if params.chunking.max_tokens + _SPECIAL_TOKENS > encoder.max_tokens:
        raise RetrievalError(
            f"chunks of {params.chunking.max_tokens} tokens do not fit the encoder, which reads {encoder.max_tokens} "
            f"with its {_SPECIAL_TOKENS} special ones; give a smaller max_tokens"
        )
    work = _Job(
        store,
        home,
        collection,
        encoder,
        params,
        progress or (lambda _: None),
        job or JobParams(),
        expected_hash,
        engines,
    )
    with collection_lock(store, home, collection) as lock:
        before = published_before(store, home, collection)
        work = replace(work, encoder=adapted(encoder, indexed_with(store, collection, before.published)))
        work = replace(work, record=work.target(before, vectors))
        remove_other_generations(work.folder, (before.published.folder.name,) if before.published else (), engines)
        reading = Reading()
        content = work.stream(before, source, reading)
        work = replace(work, params=work.params.for_scripts(reading.other_words))
        if isinstance(encoder, ReleasableEncoder):
            encoder.rest()  # the next stage needs the memory, and a folder watcher may be idle for days
        same = None if rewrite else work.same(before, content, reading.own_ends)
        done = same or work.build(before, content, lock)
    new = {item.document_id: item.version.sha256 for item in content.documents}
    kept = sum(before.versions.get(document_id) == sha256 for document_id, sha256 in new.items())
    known = sum(document_id in before.versions for document_id in new)
    return IndexReport(
        collection=collection,
        generation_hash=done.hash,
        added=len(new) - known,
        changed=known - kept,
        unchanged=kept,
        removed=len(before.versions) - known,
        refused=tuple(one for one in content.refused if one.kind != "note"),
        notes=tuple(one for one in content.refused if one.kind == "note"),
        documents=len(new),
        chunks=done.chunks,
        embedded=content.embedded,
        reused=content.reused,
        rebuilt=done.rebuilt,
        seconds=perf_counter() - started,
        index=done.index,
        recall=done.recall,
        vectors=done.engine,
        removed_ids=tuple(sorted(document_id for document_id in before.versions if document_id not in new)),
    )


@dataclass(frozen=True, slots=True)
class _Done:
    hash: str
    chunks: int
    index: str
    recall: float | None
    engine: EngineName
    rebuilt: bool


@dataclass(frozen=True, slots=True)
class _Job:
    store: Store
    home: Path
    collection: str
    encoder: Encoder
    params: IndexParams
    progress: ProgressListener
    how: JobParams
    expected_hash: str | None
    engines: Engines
    record: EngineRecord | None = None

    @property
    def folder(self) -> Path:
        return generations_folder(self.home, self.collection)

    def say(self, phase: IndexPhase, done: int, total: int | None) -> None:
        self.progress(IndexProgress(phase, done, total))

    def target(self, before: PublishedBefore, engine: EngineName | None) -> EngineRecord | None:
        """The record of a new generation in an engine that answers; None for files."""
        known = indexed_in(before.published)
        name = engine or (known.name if known else "local")
        if name == "local":
            return None
        record = self.engines.record(name, known.address if known and known.name == name else "")
        self.engines.of(record).check(self.params.dense, self.params.bm25, self.encoder.dimension)
        return record

    def stream(
        self, before: PublishedBefore, source: Iterable[Document | Refused], reading: Reading
    ) -> EmbeddingResult:
        """Read, chunk and embed the source concurrently; the result is sorted by document id. reading: updated in
        place.
        """
        cutting = ChunkingStage()
        embedded = wanted = 0

        def say() -> None:
            self.say("documents", reading.documents, reading.documents if reading.ended else None)
            self.say("chunks", cutting.documents, reading.documents if reading.ended else None)
            self.say("vectors", embedded, wanted if cutting.ended else None)

        def gathered(so_far: int) -> None:
            nonlocal wanted
            wanted = so_far
            say()

        def called(texts: int) -> None:
            nonlocal embedded
            embedded += texts
            say()

        how = self.how
        with ChunkerPool(self.counter(), self.params.chunking, how.workers) as cutters:
            read = read_source(
                self.store, self.collection, source, how.documents_per_commit, how.characters_per_commit, reading
            )
            batches = Prefetcher(read, _AHEAD)
            cut = Prefetcher(cut_batches(self.store, batches, self.known_spans(before), cutters, cutting), _AHEAD)
            # Closed in this order, so that the consumer of the reader learns that no more items follow.
            with cut, batches:
                try:
                    content = embed_stream(cut, lambda key: self.embedder(key, called), how.texts_per_window, gathered)
                except BaseException:
                    reading.stopped = True  # checked for each document: a batch may be two hundred large PDFs
                    raise
        say()
        return replace(content, documents=tuple(sorted(content.documents, key=lambda item: item.document_id)))

    def counter(self) -> TokenCounter:
        """The token counter; picklable if there are worker processes."""
        if not self.how.workers:
            return self.encoder.count_tokens
        if not isinstance(self.encoder, PicklableCounting):
            raise RetrievalError(
                f"this encoder's counting cannot be sent to {self.how.workers} other processes; index with workers=0"
            )
        return self.encoder.portable_counter()

    def embedder(self, collection_id: int, progress: Callable[[int], None]) -> Embedder:
        return Embedder(self.store, self.encoder, collection_id, self.how.texts_per_call, progress)

    def known_spans(self, before: PublishedBefore) -> KnownSpans:
        """Return the chunk spans of the published documents, if chunking them again would give the same."""
        manifest = before.manifest
        if manifest is None or (manifest.params.chunking, manifest.encoder) != (
            self.params.chunking,
            self.encoder.fingerprint,
        ):
            return KnownSpans(None)
        return KnownSpans(before.table)

    def same(self, before: PublishedBefore, content: EmbeddingResult, compare_chunks: bool) -> _Done | None:
        """Return the published generation, if it equals what the job would build.

        compare_chunks: whether chunks may differ although nothing else has changed, because an earlier version chunked
        such texts differently.
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
        return _done(manifest, rebuilt=False)

    def same_engine(self, manifest: Manifest) -> bool:
        """Whether the published indexes are where the job would write them, and can be opened."""
        wanted = self.record
        if manifest.engine is None or wanted is None:
            return manifest.engine is None and wanted is None
        if (manifest.engine.name, manifest.engine.address) != (wanted.name, wanted.address):
            return False
        try:
            load_indexes(self.folder / manifest.folder, manifest, self.engines)
        except EngineUnavailableError:
            raise
        except RetrievalError:  # not there, or not ours: the job writes it again
            return False
        return True

    def build(self, before: PublishedBefore, content: EmbeddingResult, lock: Lock) -> _Done:
        build = partial(
            IndexAssembly,
            self.store,
            self.encoder,
            self.params,
            content.documents,
            lambda: self.embedder(content.collection_id, lambda _: None),
            lambda done, total: self.say("words", done, total),
            lambda done, total: self.progress(
                IndexProgress("index", done, total, resolved_kind(self.params.dense, total))
            ),
        )
        table = build().table()
        found = generation_hash(table.versions, table.rows, self.params, self.encoder.fingerprint)
        if self.expected_hash not in (None, found):
            raise RetrievalError(
                f"these documents and parameters give the generation {found[:12]}, not {self.expected_hash}; nothing "
                "was published. Index the same sources again"
            )
        record, target = self.record, None
        if record is not None:
            target = EngineTarget(self.engines.of(record), record, found, self.collection)
        manifest = write_generation(
            self.folder, table, self.params, self.encoder.fingerprint, build(target=target).write, self.engines, record
        )
        self.say("publishing", 0, 1)
        relative = (self.folder / manifest.folder).relative_to(self.home)
        versions = [item.version for item in content.documents]
        lock.check()
        publish_generation(self.store, content.collection_id, manifest, relative, versions)
        kept = [(self.encoder.fingerprint, table.texts)]
        if before.manifest is not None and before.table is not None:
            # Reverting to the previous content must cost nothing.
            kept.append((before.manifest.encoder, before.table.texts))
        prune_collection(self.store, self.home, content.collection_id, kept)
        keep = [manifest.folder]
        if before.manifest is not None and before.manifest.engine is not None:
            # An open reader would lose its tables in the middle; the next job removes them.
            keep.append(before.manifest.folder)
        remove_other_generations(self.folder, keep, self.engines)
        self.say("publishing", 1, 1)
        return _done(manifest, rebuilt=True)


def _done(manifest: Manifest, *, rebuilt: bool) -> _Done:
    recall = float(manifest.recall["recall"]) if manifest.recall is not None else None
    return _Done(manifest.hash, manifest.chunks, manifest.index, recall, manifest.engine_name, rebuilt)
