"""nDCG@10 of all search settings on NFCorpus: python -m benchmarks.retrieval_nfcorpus nfcorpus.zip CACHE [--markdown].

PATH is BEIR's zip or the folder in it. CACHE is a folder for the vectors (embedding 3,633 documents with MiniLM takes
minutes the first time). Documents are not split but searched as "title. text", like those of the peers in
docs/retrieval.md; MiniLM reads their first 256 tokens. The test split has 323 questions. The fusion is tuned by
cross-validation on the test questions, and separately on the dev split. Intervals are BCa by question. Tests are
sign-flip against the default (min-max 0.5), adjusted by Holm over all rows except the default. Time is bound by the
encoder. The last line is JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.retrieval.comparison import Resampling, compare, estimate
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.measures import by_question
from evaluation.retrieval.rankings import RankedDocument, Run
from evaluation.retrieval.tuning import Tuning, fusion_grid, tune
from evaluation.statistics.counts import Floats
from retrieval.chunking.chunker import searchable_text
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.encoding.sentence_transformer import load_default_encoder
from retrieval.ranking.diversity import MmrParams, diversify
from retrieval.ranking.duplicates import without_duplicates
from retrieval.ranking.hits import Hit, Hits
from retrieval.reformulation.rm3 import Rm3Params, rm3
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Candidates, fused_hits
from retrieval.sparse.bm25 import REFERENCE_BM25, Bm25Params, LexicalIndex, build_bm25
from retrieval.sparse.tokenising import TokenisingParams, tokenise, tokenise_all
from retrieval.vectors.dense import DenseParams, build_dense

MEASURE = "nDCG@10"
DEPTH = 100
DEFAULT = "hybrid: min-max 0.5 (default)"


@dataclass(frozen=True, slots=True)
class Split:
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    judgements: Judgements


@dataclass(frozen=True, slots=True)
class Corpus:
    chunks: tuple[Chunk, ...]
    splits: Mapping[str, Split]


def load(path: Path) -> Corpus:
    files = _files(path)
    documents = [json.loads(line) for line in io.StringIO(files("corpus.jsonl")) if line.strip()]
    texts = {q["_id"]: q["text"] for q in (json.loads(line) for line in io.StringIO(files("queries.jsonl")))}
    splits = {}
    for name in ("test", "dev"):
        grades: dict[str, dict[str, int]] = {}
        for line in files(f"qrels/{name}.tsv").splitlines()[1:]:
            query, document, grade = line.split("\t")
            grades.setdefault(query, {})[document] = int(grade)
        ids = tuple(grades)
        splits[name] = Split(ids, tuple(texts[key] for key in ids), Judgements(grades, name))
    chunks = tuple(Chunk(d["_id"], 0, len(d["text"]), d["text"], d["title"]) for d in documents if d["text"])
    return Corpus(chunks, splits)


def _files(path: Path) -> Callable[[str], str]:
    if path.is_dir():
        return lambda name: (path / name).read_text(encoding="utf-8")
    archive = zipfile.ZipFile(path)
    return lambda name: archive.read(f"nfcorpus/{name}").decode("utf-8")


def embedded(cache: Path, name: str, encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Any:
    """Return vectors from the cache, computed if necessary. The cache key is the content: another encoder or text uses
    another file.
    """
    key = hashlib.sha256("\0".join((name, *texts)).encode()).hexdigest()[:16]
    path = cache / f"{key}.npy"
    if not path.is_file():
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), 256):
            part = order[start : start + 256]
            vectors[part] = encode([texts[i] for i in part])
            print(f"  embedded {min(start + 256, len(order))} of {len(order)}", flush=True)
        np.save(path, vectors)
    return np.load(path)


class Table:
    """Values of a measure by question for each setting, in order of addition."""

    def __init__(self, corpus: Corpus, split: Split):
        self.corpus, self.split = corpus, split
        self.rows: dict[str, Floats] = {}

    def score(self, found: Iterable[Sequence[Hit]]) -> Floats:
        run: Run = {
            key: tuple(RankedDocument(self.corpus.chunks[h.position].document_id, h.score) for h in hits)
            for key, hits in zip(self.split.ids, found, strict=True)
        }
        return by_question(run, self.split.judgements, self.split.ids, MEASURE)

    def add(self, name: str, found: Iterable[Sequence[Hit]]) -> None:
        self.rows[name] = self.score(found)
        print(f"{self.rows[name].mean():.4f}  {name}", flush=True)


class Words:
    """BM25 with one setting over the corpus."""

    def __init__(self, corpus: Corpus, tokenising: TokenisingParams, params: Bm25Params):
        self.tokenising = tokenising
        self.documents = list(tokenise_all([searchable_text(chunk) for chunk in corpus.chunks], tokenising))
        self.index: LexicalIndex = build_bm25(self.documents, params)

    def search(self, texts: Sequence[str]) -> list[Hits]:
        return [self.index.search(tokenise(text, self.tokenising), DEPTH) for text in texts]

    def with_feedback(self, texts: Sequence[str], params: Rm3Params) -> list[Hits]:
        results = []
        for text in texts:
            words = tokenise(text, self.tokenising)
            first = self.index.search(words, params.passages)
            passages = [self.documents[hit.position] for hit in first]
            results.append(self.index.search_weighted(rm3(words, passages, [h.score for h in first], params), DEPTH))
        return results


def sparse_rows(table: Table) -> Words:
    """Add rows for weightings and tokenisations of BM25. Returns the product's default."""
    english, none = TokenisingParams(), "none"
    settings: dict[str, tuple[TokenisingParams, Bm25Params]] = {
        "bm25: lucene 0.9/0.4, stemmed (default)": (english, Bm25Params()),
        "bm25: without stemming (as bm25s)": (TokenisingParams(none, "english"), Bm25Params()),
        "bm25: without stop words": (TokenisingParams("english", none), Bm25Params()),
        "bm25: without either": (TokenisingParams(none, none), Bm25Params()),
        "bm25: porter stemmer (as Lucene)": (TokenisingParams("porter", "english"), Bm25Params()),
        "bm25: numbers": (replace(english, numbers=True), Bm25Params()),
        "bm25: code": (replace(english, code=True), Bm25Params()),
        "bm25: lucene 1.2/0.75": (english, Bm25Params(k1=1.2, b=0.75)),
        "bm25: rank-bm25 okapi 1.5/0.75": (english, REFERENCE_BM25),
        "bm25: rank-bm25 bm25l": (english, Bm25Params("bm25l", 1.5, 0.75)),
        "bm25: rank-bm25 bm25+": (english, Bm25Params("bm25+", 1.5, 0.75)),
    }
    default: Words | None = None
    for name, (tokenising, params) in settings.items():
        words = Words(table.corpus, tokenising, params)
        table.add(name, words.search(table.split.texts))
        default = default or words
    assert default is not None
    table.add("bm25: RM3", default.with_feedback(table.split.texts, Rm3Params()))
    return default


def hybrid_rows(table: Table, dense: Any, sparse: Any, expanded: Any, vectors: NDArray[np.float32]) -> None:
    """Add rows for fusions of both runs, then for options on the default fusion."""

    def fused(params: RetrievalParams, words: Any = sparse) -> list[Hits]:
        return [fused_hits(Candidates(d, s), params) for d, s in zip(dense, words, strict=True)]

    base = RetrievalParams()
    table.add(DEFAULT, fused(base))
    table.add("hybrid: RRF 60", fused(replace(base, fusion="rrf")))
    table.add("hybrid: z-score 0.5", fused(replace(base, fusion="zscore")))
    table.add("hybrid: min-max 0.6", fused(replace(base, dense_weight=0.6)))
    table.add("hybrid: RM3 on the words", fused(base, expanded))
    plain = fused(base)
    chunks = table.corpus.chunks
    items = [
        tuple(RetrievedChunk(chunks[h.position], h.score, rank) for rank, h in enumerate(hits, 1)) for hits in plain
    ]
    index_of = {chunk.id: position for position, chunk in enumerate(chunks)}
    for weight in (0.9, 0.7):
        diverse = [
            diversify(hits_found, vectors[[index_of[i.chunk.id] for i in hits_found[:50]]], MmrParams(weight), 10)
            for hits_found in items
        ]
        table.add(
            f"hybrid: MMR {weight}",
            [[Hit(index_of[i.chunk.id], i.score) for i in hits_found] for hits_found in diverse],
        )
    single = [without_duplicates(hits_found, 0.9, max_count=10) for hits_found in items]
    table.add(
        "hybrid: duplicates 0.9 left out",
        [[Hit(index_of[i.chunk.id], i.score) for i in hits_found] for hits_found in single],
    )


def tuned_on(table: Table, dense: Any, sparse: Any) -> Tuning:
    return tune(
        fusion_grid(RetrievalParams()),
        lambda params: table.score(fused_hits(Candidates(d, s), params) for d, s in zip(dense, sparse, strict=True)),
        MEASURE,
    )


def print_table(table: Table, markdown: bool) -> list[dict[str, object]]:
    resampling = Resampling()
    tests = compare(table.rows[DEFAULT], {name: row for name, row in table.rows.items() if name != DEFAULT}, resampling)
    lines: list[dict[str, object]] = []
    print(
        "| setting | nDCG@10 | 95 % interval | against the default | p (Holm) |\n|---|---|---|---|---|"
        if markdown
        else ""
    )
    for name, row in table.rows.items():
        mean = estimate(row, resampling)
        test = tests.get(name)
        cells = [name, f"{mean.mean:.4f}", f"{mean.lower:.3f} to {mean.upper:.3f}"]
        cells += [f"{test.difference.mean:+.4f}", f"{test.p_holm:.4f}"] if test else ["", ""]
        print(f"| {' | '.join(cells)} |" if markdown else "  ".join(cells))
        lines.append(
            {"setting": name, "ndcg10": round(mean.mean, 4), "p_holm": round(test.p_holm, 4) if test else None}
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="nfcorpus.zip or the folder in it")
    parser.add_argument("cache", type=Path, help="folder for vectors")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--sparse-only", action="store_true", help="no encoder")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    corpus = load(arguments.path)
    test, dev = Table(corpus, corpus.splits["test"]), Table(corpus, corpus.splits["dev"])
    print(f"{len(corpus.chunks)} documents, {len(test.split.ids)} test and {len(dev.split.ids)} dev questions")
    words = sparse_rows(test)
    if arguments.sparse_only:
        return
    encoder = load_default_encoder()
    name = encoder.fingerprint
    documents = [searchable_text(chunk) for chunk in corpus.chunks]
    vectors = embedded(arguments.cache, name, encoder.encode_passages, documents)
    index = build_dense(vectors).index
    dense, sparse = {}, {}
    for split, table in (("test", test), ("dev", dev)):
        query_vectors = embedded(arguments.cache, f"{name} queries", encoder.encode_queries, table.split.texts)
        dense[split], sparse[split] = index.search(query_vectors, DEPTH), words.search(table.split.texts)
    test.add("dense: MiniLM", dense["test"])
    rounded = load_default_encoder(precision="bf16")
    coarse = embedded(arguments.cache, rounded.fingerprint, rounded.encode_passages, documents)
    query_vectors = embedded(arguments.cache, f"{name} queries", encoder.encode_queries, test.split.texts)
    coarse_hits = build_dense(coarse).index.search(query_vectors, DEPTH)
    test.add("dense: MiniLM, passages in bf16", coarse_hits)
    mixed = [fused_hits(Candidates(d, s), RetrievalParams()) for d, s in zip(coarse_hits, sparse["test"], strict=True)]
    test.add("hybrid: passages in bf16", mixed)
    small = build_dense(vectors, DenseParams(quantisation="int8"))
    test.add("dense: int8", small.index.search(query_vectors, DEPTH))
    test.add("dense: HNSW", build_dense(vectors, DenseParams(kind="hnsw")).index.search(query_vectors, DEPTH))
    expanded = words.with_feedback(test.split.texts, Rm3Params())
    hybrid_rows(test, dense["test"], sparse["test"], expanded, vectors)
    chosen = tuned_on(dev, dense["dev"], sparse["dev"]).chosen
    test.add(
        f"hybrid: chosen on dev ({chosen.mode} {chosen.fusion} {chosen.dense_weight:g})",
        [fused_hits(Candidates(d, s), chosen) for d, s in zip(dense["test"], sparse["test"], strict=True)],
    )
    rows = print_table(test, arguments.markdown)
    tuning = tuned_on(test, dense["test"], sparse["test"])
    others = {
        n: row for n, row in test.rows.items() if n in ("dense: MiniLM", "bm25: lucene 0.9/0.4, stemmed (default)")
    }
    above = compare(test.rows[DEFAULT], others, Resampling())
    for other, test_of in above.items():
        print(f"{other} less the default: {test_of.difference.mean:+.4f}, p (Holm over 2) {test_of.p_holm:.4f}")
    gain = tuning.gain
    print(
        f"cross-validated on test: {tuning.held_out.mean:.4f}, gain {gain.difference.mean:+.4f}, p {gain.p_value:.4f}, "
        f"real: {tuning.is_real}"
    )
    best = max(float(row.mean()) for row in test.rows.values())
    print(json.dumps({"benchmark": "retrieval_nfcorpus", "best": round(best, 4), "rows": rows}))


if __name__ == "__main__":
    main()
