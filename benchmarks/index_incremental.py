"""Reindexing after a change of 1 %: python -m benchmarks.index_incremental [--chunks N] [--encoder minilm|hashing].

It indexes articles until there are at least N chunks (50,000 by default, flat index). Then it changes one document in a
hundred by a sentence and indexes again. The target is 3 % of the full time with MiniLM. The full run is bound by the
encoder. The second run is bound by reading, hashing and counting every document again, and by the disk. With --encoder
hashing (the fake encoder, which costs almost nothing) the target does not apply, but the share shows the cost of
everything else. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.corpus import add_corpus, articles
from benchmarks.index_memory import ENCODERS
from data.documents import Document
from data.store import Store
from retrieval.chunking.chunker import ChunkingParams, chunk_spans
from retrieval.encoding.encoder import Encoder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.vectors.params import DenseParams

SHARE = 100  # one document in this many is changed


def enough(items: Iterator[Document], encoder: Encoder, chunks: int) -> list[Document]:
    """Return the first documents that together have at least this many chunks."""
    documents: list[Document] = []
    count = 0
    for document in items:
        documents.append(document)
        count += len(chunk_spans(document.text, encoder.count_tokens, ChunkingParams()))
        if count >= chunks:
            return documents
    raise SystemExit(f"the corpus has {count} chunks, not {chunks}: give a smaller --chunks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--chunks", type=int, default=None, help="default 50000, tiny 2000")
    parser.add_argument("--encoder", choices=tuple(ENCODERS), default=None, help="default minilm, tiny hashing")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    name = arguments.encoder or ("hashing" if arguments.tiny else "minilm")
    encoder = ENCODERS[name]()
    least_chunks = arguments.chunks or (2000 if arguments.tiny else 50_000)
    given = enough(articles(arguments.data, None, arguments.tiny), encoder, least_chunks)
    changed = [
        replace(document, text=document.text + " One more sentence stands here now.") if i % SHARE == 0 else document
        for i, document in enumerate(given)
    ]
    seconds, reports = [], []
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/p.db") as store:
        for source in (given, changed, changed):
            started = time.perf_counter()
            reports.append(
                index_documents(
                    store,
                    Path(folder),
                    "c",
                    source,
                    encoder,
                    params=IndexParams.for_new_index(dense=DenseParams(kind="flat")),
                    job=JobParams(workers=arguments.workers),
                )
            )
            seconds.append(time.perf_counter() - started)
            print(f"{seconds[-1]:.1f} s: {reports[-1].embedded} embedded, {reports[-1].reused} reused")
    full, change, nothing = seconds
    result = {
        "benchmark": "index_incremental",
        "encoder": name,
        "documents": len(given),
        "changed": reports[1].changed,
        "chunks": reports[0].chunks,
        "embedded_again": reports[1].embedded,
        "full_s": round(full, 2),
        "change_s": round(change, 2),
        "no_change_s": round(nothing, 2),
        "share": round(change / full, 4),
        "target": 0.03 if name == "minilm" else None,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
