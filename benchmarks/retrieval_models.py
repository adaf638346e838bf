"""Search options that use a model, on NFCorpus: python -m benchmarks.retrieval_models nfcorpus.zip CACHE.

It has the setting of benchmarks/retrieval_nfcorpus.py: complete documents, the default min-max fusion, and the same
cached vectors. It uses --questions of the 323 test questions, drawn without replacement (seed 0), because each takes
seconds. The options are:

- reranking of the first 10 and 20 documents by the shipped verifier, which was trained to judge claims, not to rank; by
  its score alone, and by the mean of its score and the fusion's (each in [0, 1]);
- the question with the words that the shipped reader copies from the first four documents: as a second query (fused by
  reciprocal rank), and as an imagined passage (HyDE's mean of vectors). The reader cannot write; no decoder that can
  was tested.

The measure is nDCG@10, with BCa intervals of paired differences and sign-flip tests adjusted by Holm over the rows.
Time is bound by the verifier's matrix products. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from app.models.generators import open_generator
from benchmarks.retrieval_nfcorpus import DEPTH, Corpus, Split, Table, Words, embedded, load
from evaluation.retrieval.comparison import Resampling, compare
from generation.decoding.params import SamplingParams
from model.pairs.scoring import Pair
from model.verifier.scorer import load_support_scorer
from retrieval.chunking.chunker import searchable_text
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.encoding.sentence_transformer import load_default_encoder
from retrieval.ranking.fusion import reciprocal_rank
from retrieval.ranking.hits import Hit
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Candidates, fused_hits
from retrieval.sparse.bm25 import Bm25Params
from retrieval.sparse.tokenising import TokenisingParams
from retrieval.vectors.dense import build_dense

DEFAULT = "default"
READ = 4
Ranked = Sequence[Hit]


def drawn(split: Split, count: int) -> tuple[Split, np.ndarray]:
    """Return a random sample of the questions, and their indexes."""
    indices = np.sort(np.random.default_rng(0).choice(len(split.ids), min(count, len(split.ids)), replace=False))
    return Split(
        tuple(split.ids[i] for i in indices), tuple(split.texts[i] for i in indices), split.judgements
    ), indices


def reranked(corpus: Corpus, texts: Sequence[str], found: Sequence[Ranked], deepest: int) -> list[dict[int, float]]:
    """Return the verifier's support of each question by each of its first documents, by position."""
    pairs = [
        Pair(searchable_text(corpus.chunks[hit.position]), text)
        for text, hits in zip(texts, found, strict=True)
        for hit in hits[:deepest]
    ]
    scores = iter(load_support_scorer().score(pairs))
    return [{hit.position: next(scores) for hit in hits[:deepest]} for hits in found]


def ordered(hits: Ranked, scores: dict[int, float], depth: int, own: float) -> Ranked:
    """Return the hits with the first ``depth`` reordered, followed by the others. own: weight of the fusion's score;
    the verifier's has weight 1 - own.
    """
    head = [Hit(h.position, (1 - own) * scores[h.position] + own * h.score) for h in hits[:depth]]
    head.sort(key=lambda hit: -hit.score)
    floor = min((hit.score for hit in head), default=0.0)
    return (*head, *(Hit(h.position, floor - n) for n, h in enumerate(hits[depth:], 1)))


def pointed(corpus: Corpus, texts: Sequence[str], found: Sequence[Ranked]) -> list[str]:
    """Return each question with the reader's words appended; unchanged if the reader declines."""
    reader = open_generator("", device="cpu")
    rewritten: list[str] = []
    for text, hits in zip(texts, found, strict=True):
        chunks = tuple(RetrievedChunk(corpus.chunks[h.position], h.score, n) for n, h in enumerate(hits[:READ], 1))
        completion = reader.generate(reader.prompt(text, chunks, 32), SamplingParams(max_tokens=32), [0])[0]
        words = completion.text
        for citation in sorted(completion.citations, key=lambda c: -c.start):
            words = words[: citation.start] + words[citation.end :]
        rewritten.append(f"{text} {' '.join(words.split())}" if completion.citations else text)
    return rewritten


def both(first: Ranked, second: Ranked) -> Ranked:
    """Return the results of both queries, fused by reciprocal rank."""
    totals: dict[int, float] = {}
    for hits in (first, second):
        for rank, hit in enumerate(hits, 1):
            totals[hit.position] = totals.get(hit.position, 0.0) + reciprocal_rank(rank)
    return tuple(Hit(position, score) for position, score in sorted(totals.items(), key=lambda item: -item[1])[:DEPTH])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="nfcorpus.zip or the folder in it")
    parser.add_argument("cache", type=Path, help="folder for vectors")
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    corpus, encoder = load(arguments.path), load_default_encoder()
    documents = [searchable_text(chunk) for chunk in corpus.chunks]
    index = build_dense(embedded(arguments.cache, encoder.fingerprint, encoder.encode_passages, documents)).index
    words = Words(corpus, TokenisingParams(), Bm25Params())
    split, _ = drawn(corpus.splits["test"], arguments.questions)
    table, texts = Table(corpus, split), split.texts

    def searched(vectors: np.ndarray, rewritten: Sequence[str]) -> list[Ranked]:
        dense, sparse = index.search(vectors, DEPTH), words.search(rewritten)
        return [fused_hits(Candidates(d, s), RetrievalParams()) for d, s in zip(dense, sparse, strict=True)]

    own = encoder.encode_queries(texts)
    first_hits = searched(own, texts)
    table.add(DEFAULT, first_hits)
    started = perf_counter()
    scores = reranked(corpus, texts, first_hits, 20)
    print(f"{20 * len(texts) / (perf_counter() - started):.1f} pairs/s", flush=True)
    for depth in (10, 20):
        for name, weight in (("", 0.0), (", half and half", 0.5)):
            again = [ordered(hits, by, depth, weight) for hits, by in zip(first_hits, scores, strict=True)]
            table.add(f"first {depth} reranked by the shipped verifier{name}", again)
    rewritten = pointed(corpus, texts, first_hits)
    changed = sum(one != other for one, other in zip(rewritten, texts, strict=True))
    print(f"the reader pointed at words for {changed} of {len(texts)} questions", flush=True)
    worded = searched(encoder.encode_queries(rewritten), rewritten)
    table.add("also searched with the reader's words", [both(a, b) for a, b in zip(first_hits, worded, strict=True)])
    means = own + encoder.encode_passages(rewritten)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    table.add("vector averaged with that of the reader's words", searched(means, texts))
    tests = compare(table.rows[DEFAULT], {n: r for n, r in table.rows.items() if n != DEFAULT}, Resampling())
    rows: list[dict[str, object]] = [{"setting": DEFAULT, "ndcg10": round(float(table.rows[DEFAULT].mean()), 4)}]
    for name, test in tests.items():
        gain = test.difference
        rows.append(
            {
                "setting": name,
                "ndcg10": round(float(table.rows[name].mean()), 4),
                "gain": [None if v is None else round(v, 4) for v in (gain.mean, gain.lower, gain.upper)],
                "p_holm": round(test.p_holm, 4),
            }
        )
        print(rows[-1], flush=True)
    print(json.dumps({"benchmark": "retrieval_models", "questions": len(texts), "rows": rows}))


if __name__ == "__main__":
    main()
