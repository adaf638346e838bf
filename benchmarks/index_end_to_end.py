"""Indexing end to end: python -m benchmarks.index_end_to_end [--articles N] [--rounds R].

It compares the chunks per second of `index_documents` (read, split, embed, count words, write, flush, check, publish)
with two peers, interleaved, on the same articles and chunks with the same encoder. The encoder of `index_documents`
runs in its own process, as in `plumbline index`. The time to open encoders is not counted on any side. The peers are:

- one global `SentenceTransformer.encode` of all chunk texts, which only embeds (target: at least 0.95 of its speed);
- a simple loop: each document embedded separately, each chunk an ORM object, a commit per document, rank-bm25 over all
  chunks at the end (target: at least 1.7 times its speed). Its encoding takes nearly as long as the global encode,
  since the library also sorts the chunks of a document by length.

Ours runs with the default of a new collection (passages in bf16 where this machine computes faster in it) and in fp32.
Both peers run in fp32, the library's default. Ratios are of the same round, so that other load affects both sides. Time
is bound by the encoder's matrix products. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import rank_bm25
from sqlalchemy import LargeBinary, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from benchmarks.corpus import add_corpus, articles
from data.documents import Document
from data.store import Store
from retrieval.chunking.chunker import ChunkingParams, chunk_document, searchable_text
from retrieval.encoding.adapted import adapted
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.sentence_transformer import (
    SentenceTransformerEncoder,
    default_encoder_folder,
    load_default_encoder,
)
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.sparse.tokenising import TokenisingParams, tokenise

OURS = ("plumbline", "plumbline_fp32")
PEERS = ("encode", "naive")


class Base(DeclarativeBase):
    pass


class NaiveChunk(Base):
    __tablename__ = "chunks"
    id: Mapped[int] = mapped_column(primary_key=True)
    document: Mapped[str]
    text: Mapped[str]
    vector: Mapped[bytes] = mapped_column(LargeBinary)


def plumbline(given: Sequence[Document], encoder: Encoder, workers: int) -> int:
    with tempfile.TemporaryDirectory() as name, Store.open(f"sqlite:///{name}/p.db") as store:
        return index_documents(store, Path(name), "c", given, encoder, job=JobParams(workers=workers)).chunks


def naive(given: Sequence[Document], encoder: SentenceTransformerEncoder, model: Any) -> int:
    chunking, tokenising = ChunkingParams(), TokenisingParams()
    words = []
    with tempfile.TemporaryDirectory() as name:
        engine = create_engine(f"sqlite:///{name}/naive.db")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            for document in given:
                chunks = chunk_document(document, encoder.count_tokens, chunking)
                vectors = model.encode([searchable_text(chunk) for chunk in chunks], show_progress_bar=False)
                for chunk, vector in zip(chunks, vectors, strict=True):
                    session.add(NaiveChunk(document=document.id, text=chunk.text, vector=vector.tobytes()))
                    words.append(tokenise(searchable_text(chunk), tokenising))
                session.commit()
        rank_bm25.BM25Okapi(words)
        engine.dispose()
    return len(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--articles", type=int, default=None, help="default 150, tiny 6")
    parser.add_argument("--rounds", type=int, default=None, help="default 3, tiny 1")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    count = arguments.articles or (6 if arguments.tiny else 150)
    rounds = arguments.rounds or (1 if arguments.tiny else 3)
    from sentence_transformers import SentenceTransformer

    given = list(articles(arguments.data, count, arguments.tiny))
    encoder = load_default_encoder()
    new = adapted(load_default_encoder(precision="auto"), None)
    model = SentenceTransformer(str(default_encoder_folder()), device="cpu")
    texts = [searchable_text(c) for d in given for c in chunk_document(d, encoder.count_tokens, ChunkingParams())]
    model.encode(texts[:64], show_progress_bar=False)  # warm-up

    def encode() -> int:
        return len(model.encode(texts, show_progress_bar=False))

    encoders = {
        "plumbline": SubprocessEncoder(partial(load_default_encoder, precision="auto")),
        "plumbline_fp32": SubprocessEncoder(load_default_encoder),
    }
    contenders: dict[str, Callable[[], int]] = {
        **{name: partial(plumbline, given, ours, arguments.workers) for name, ours in encoders.items()},
        "encode": encode,
        "naive": lambda: naive(given, encoder, model),
    }
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        for index in range(len(contenders)):  # each goes first in turn
            name = list(contenders)[(index + number) % len(contenders)]
            if name in encoders:
                adapted(encoders[name], None).encode_passages(
                    texts[:64]
                )  # start the process, which the previous job ended
            started = time.perf_counter()
            chunks = contenders[name]()
            rates[name].append(chunks / (time.perf_counter() - started))
            print(f"round {number + 1}: {name} {rates[name][-1]:.1f} chunks/s")
            if chunks != len(texts):
                raise SystemExit(f"{name} made {chunks} chunks, not {len(texts)}: the contenders differ in their work")
    for ours in encoders.values():
        ours.close()
    ratios = {
        f"over_{peer}{ours.removeprefix('plumbline')}": statistics.median(
            a / b for a, b in zip(rates[ours], rates[peer], strict=True)
        )
        for ours in OURS
        for peer in PEERS
    }
    result = {
        "benchmark": "index_end_to_end",
        "documents": len(given),
        "chunks": len(texts),
        "rounds": rounds,
        "tiny": arguments.tiny,
        "default_precision": "fp32" if new.fingerprint == encoder.fingerprint else "bf16",
        **{f"{name}_chunks_per_s": round(statistics.median(values), 1) for name, values in rates.items()},
        **{name: round(value, 3) for name, value in ratios.items()},
        "targets": {"over_encode": 0.95, "over_naive": 1.7},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
