"""Latency of one hybrid query at 100,000 chunks, with the encoder's share: python -m benchmarks.hybrid_latency
[--tiny].

Random vectors and synthetic words replace the chunks, since search time does not depend on their meaning. The encoder
is MiniLM, with one query at a time, as for a single user. Time is bound by the encoder's forward pass and by reading
150 MB of vectors per query. The peer in the same run is a simple service: the same encoder, raw FAISS with default
settings and rank-bm25, fused by reciprocal rank. The last line is JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
from time import perf_counter

import faiss
import numpy as np
import rank_bm25

from benchmarks.bm25_speed import corpus, queries
from benchmarks.dense_speed import STOCK_THRESHOLD, unit
from retrieval.encoding.sentence_transformer import load_default_encoder
from retrieval.ranking.fusion import fuse_reciprocal_rank
from retrieval.ranking.hits import Hit
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Candidates, fused_hits
from retrieval.sparse.bm25 import Bm25Params, build_bm25
from retrieval.vectors.dense import build_flat

DEPTH = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="1,000 chunks, as a smoke test")
    arguments = parser.parse_args()
    count, query_count, peer_query_count = (1_000, 5, 2) if arguments.tiny else (100_000, 200, 20)
    encoder = load_default_encoder()
    texts = corpus(count, 0)
    stored = unit(count, encoder.dimension, 0)
    dense, lexical = build_flat(stored), build_bm25(texts, Bm25Params())
    raw = faiss.IndexFlatIP(encoder.dimension)
    raw.add(stored)
    reference = rank_bm25.BM25Okapi(texts)
    threads = faiss.omp_get_max_threads()
    params = RetrievalParams(depth=DEPTH)
    encoder.encode_queries(["warm up"])
    # The peer keeps a dict for each document. Python's garbage collector would traverse them during a query, which
    # would dominate our p99 at 100,000 documents.
    gc.collect()
    gc.freeze()
    total, encoding, naive = [], [], []
    for number, words in enumerate(queries(query_count, 1)):
        text = " ".join(words)
        started = perf_counter()
        vector = encoder.encode_queries([text])
        encoded = perf_counter()
        fused_hits(Candidates(dense.search(vector, DEPTH)[0], lexical.search(words, DEPTH)), params)[:10]
        total.append(perf_counter() - started)
        encoding.append(encoded - started)
        if number < peer_query_count:
            faiss.omp_set_num_threads(threads)
            faiss.cvar.distance_compute_blas_threshold = STOCK_THRESHOLD
            started = perf_counter()
            scores, positions = raw.search(encoder.encode_queries([text]), DEPTH)
            words_scores = reference.get_scores(words)
            best = np.argsort(words_scores)[::-1][:DEPTH]
            fuse_reciprocal_rank(
                (
                    [Hit(int(p), float(s)) for p, s in zip(positions[0], scores[0], strict=True)],
                    [Hit(int(p), float(words_scores[p])) for p in best],
                )
            )
            naive.append(perf_counter() - started)
    p50, p99 = (1000 * float(np.quantile(total, q)) for q in (0.5, 0.99))
    share = float(np.median(np.asarray(encoding) / np.asarray(total)))
    ratio = float(np.median(naive)) / float(np.median(total))
    slowest = sorted(zip(total, range(len(total)), strict=True))[-5:]
    print(f"{count} chunks: p50 {p50:.1f} ms, p99 {p99:.1f} ms, of which encoding {share:.0%} (median)")
    print("slowest: " + ", ".join(f"{1000 * seconds:.0f} ms (query {number})" for seconds, number in slowest))
    case = {"case": "over encoder, stock FAISS and rank-bm25", "ratio": round(ratio, 2), "target": 1.0}
    print(
        json.dumps(
            {
                "benchmark": "hybrid_latency",
                "tiny": arguments.tiny,
                "chunks": count,
                "p50_ms": round(p50, 2),
                "p99_ms": round(p99, 2),
                "encoder_share": round(share, 3),
                "cases": [case],
            }
        )
    )


if __name__ == "__main__":
    main()
