"""Index a stream of documents and publish a generation. The job can be killed at any point and resumed.

Reading, chunking and embedding run concurrently. Intermediate results are in the database, not in memory.
docs/indexing.md describes the memory use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from data.documents import Document
from data.refused import Refused
from data.store import Store
from retrieval.encoding.adapted import adapted
from retrieval.encoding.encoder import Encoder, ReleasableEncoder
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_lock
from retrieval.generations.folder import remove_other_generations
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.index_job import IndexJob, ProgressListener
from retrieval.indexing.index_target import IndexTarget
from retrieval.indexing.indexed_encoder import indexed_with
from retrieval.indexing.job_params import JobParams
from retrieval.indexing.published_before import published_before
from retrieval.indexing.reading import Reading
from retrieval.indexing.report import IndexReport

__all__ = ["IndexTarget", "JobParams", "ProgressListener", "index_documents"]

_SPECIAL_TOKENS = 2


def index_documents(
    store: Store,
    home: Path,
    collection: str,
    source: Iterable[Document | Refused],
    encoder: Encoder,
    *,
    params: IndexParams | None = None,
    job: JobParams | None = None,
    target: IndexTarget | None = None,
    progress: ProgressListener | None = None,
) -> IndexReport:
    """Make the collection hold exactly the source's documents, and publish an index of them.

    The source is the complete new content: documents that it lacks are removed. It is iterated in a thread. Queries see
    no change until the new generation is published, in one transaction, at the very end. Documents and vectors are
    committed on the way, so that a killed run resumes where it stopped and gives the same generation hash; only texts
    without a stored vector are embedded. An encoder with several precisions uses the collection's own
    (retrieval/encoding/adapted.py).

    params: parameters of the index; None for ``IndexParams.for_new_index()``. job: batch sizes and processes.
    target: where the indexes are written. progress: called repeatedly in this thread; an exception from it ends the run
    like a kill.

    Raises RetrievalError for an invalid name, a concurrent run on the same collection, parameters that the encoder
    cannot serve, a source without documents, an encoder without usable vectors, or a generation that differs from
    target.expected_hash; EngineError if the engine does not answer or cannot hold such indexes. Raises OSError or
    DataError if the disk is full or read-only. In all cases the old generation keeps answering.
    """
    started = perf_counter()
    params, target = params or IndexParams.for_new_index(), target or IndexTarget()
    if params.chunking.max_tokens + _SPECIAL_TOKENS > encoder.max_tokens:
        raise RetrievalError(
            f"chunks of {params.chunking.max_tokens} tokens do not fit the encoder, which reads {encoder.max_tokens} "
            f"with its {_SPECIAL_TOKENS} special ones; give a smaller max_tokens"
        )
    work = IndexJob(store, home, collection, encoder, params, progress or (lambda _: None), job or JobParams(), target)
    with collection_lock(store, home, collection) as lock:
        before = published_before(store, home, collection)
        work = replace(work, encoder=adapted(encoder, indexed_with(store, collection, before.published)))
        work = replace(work, record=work.engine_record(before))
        remove_other_generations(
            work.folder, (before.published.folder.name,) if before.published else (), target.engines
        )
        reading = Reading()
        content = work.stream(before, source, reading)
        work = replace(work, params=work.params.for_scripts(reading.bigrams_needed))
        if isinstance(encoder, ReleasableEncoder):
            encoder.release()  # the next stage needs the memory, and a folder watcher may be idle for days
        same = None if target.rewrite else work.same(before, content, reading.rechunking_needed)
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
