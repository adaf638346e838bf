"""BM25 queries per second compared with rank-bm25 and bm25s: python -m benchmarks.bm25_speed [--tiny].

The three run interleaved, query by query, in one process. Corpora are synthetic, with Zipf-distributed words (30 to 90
per document); queries have 2 to 8 words from the same distribution. Ours searches memory-mapped files, as the product
does, and returns the ten best. Ours and bm25s are memory-bound: they read every posting of every query word once.
rank-bm25 searches a Python dict of each document for every word. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import bm25s
import numpy as np
import rank_bm25

from retrieval.sparse.bm25 import REFERENCE_BM25, Bm25Params, build_bm25, load_bm25

SIZES = {5_000: 20.0, 25_000: 50.0, 100_000: 100.0}
BM25S_TARGET = 0.9
VOCABULARY = 30_000
K = 10


def corpus(documents: int, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    names = [f"w{i}" for i in range(VOCABULARY)]
    # Without the hundred most common words, which stand for stop words.
    weights = [1 / (i + 100) for i in range(VOCABULARY)]
    return [rng.choices(names, weights, k=rng.randrange(30, 90)) for _ in range(documents)]


def queries(count: int, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    names = [f"w{i}" for i in range(VOCABULARY)]
    weights = [1 / (i + 100) for i in range(VOCABULARY)]
    return [rng.choices(names, weights, k=rng.randrange(2, 9)) for _ in range(count)]


def timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def measure(documents: int, query_count: int, reference_count: int) -> list[dict[str, object]]:
    texts = corpus(documents, 0)
    reference = rank_bm25.BM25Okapi(texts)
    direct = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    direct.index(texts, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        okapi = load_saved(build_bm25(texts, REFERENCE_BM25), Path(folder) / "okapi", REFERENCE_BM25)
        lucene = load_saved(build_bm25(texts, Bm25Params()), Path(folder) / "lucene", Bm25Params())
        seconds: dict[str, list[float]] = {"okapi": [], "rank-bm25": [], "lucene": [], "bm25s": []}
        searched = queries(query_count, 1)
        for number, query in enumerate(searched):
            for name, index in (("okapi", okapi), ("lucene", lucene)):
                index.search(query, K)  # the first run reads pages from the disk; both sides are measured warm
                seconds[name].append(timed(lambda q=query, i=index: i.search(q, K)))
            direct.retrieve([query], k=K, show_progress=False)
            seconds["bm25s"].append(timed(lambda q=query: direct.retrieve([q], k=K, show_progress=False)))
            if number < reference_count:
                seconds["rank-bm25"].append(timed(lambda q=query: np.argsort(reference.get_scores(q))[::-1][:K]))
        check_same(okapi, reference, searched[:5])
    milliseconds = {name: 1000 * median(values) for name, values in seconds.items()}
    ratio = milliseconds["rank-bm25"] / milliseconds["okapi"]
    bm25s_ratio = milliseconds["bm25s"] / milliseconds["lucene"]
    print(f"{documents} documents, median ms per query: " + ", ".join(f"{n} {v:.3f}" for n, v in milliseconds.items()))
    return [
        {
            "case": f"over rank-bm25, {documents} documents",
            "ratio": round(ratio, 2),
            "target": SIZES.get(documents),
        },
        {"case": f"over bm25s, {documents} documents", "ratio": round(bm25s_ratio, 3), "target": BM25S_TARGET},
    ]


def load_saved(index, folder: Path, params: Bm25Params):  # type: ignore[no-untyped-def]
    folder.mkdir()
    index.save(folder)
    return load_bm25(folder, params)


def check_same(index, reference, searches: list[list[str]]) -> None:  # type: ignore[no-untyped-def]
    """Raise AssertionError if the scores differ: the speed of a wrong result is meaningless."""
    for query in searches:
        np.testing.assert_allclose(index.scores(query), reference.get_scores(query), rtol=1e-6, atol=1e-12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="500 documents, as a smoke test")
    arguments = parser.parse_args()
    cases: list[dict[str, object]] = []
    for documents in (500,) if arguments.tiny else SIZES:
        cases.extend(measure(documents, 20 if arguments.tiny else 300, 5 if arguments.tiny else 40))
    print(json.dumps({"benchmark": "bm25_speed", "tiny": arguments.tiny, "cases": cases}))


if __name__ == "__main__":
    main()
