"""Vector engines compared with local files: python -m benchmarks.vector_engines [--chunks 100000] [--tiny].

Chunks are synthetic: unit vectors of 384 dimensions around 1,000 random centres (as texts cluster by topic), and 30 to
90 words with Zipf's frequencies. Each engine is written and searched through the product's code, k = 100 (the default
depth of a search). PostgreSQL and Milvus (Milvus Lite as a server) run on loopback on the same machine. Queries are
interleaved: each is sent to every engine, in random order, so that other load affects all equally. Ratios are medians
of ratios within one query.

recall: the share of the ten nearest vectors that is found, for queries that are not stored. Memory: the server's
proportional set size (PSS) after the queries; for local files, the increase in a process of their own by opening and
searching them. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from benchmarks.bm25_speed import VOCABULARY, queries
from benchmarks.measuring import folder_mib
from retrieval.engines.engine import IndexEngine, IndexFacts, IndexWriter, OpenIndexes
from retrieval.engines.local import VECTORS, LocalWriter, open_local
from retrieval.sparse.bm25 import Bm25Params, build_bm25
from retrieval.vectors.params import DenseParams

DIMENSION = 384
K = 100
PLACES = {"pgvector": "000000000001", "milvus": "000000000002"}
"""Build IDs of the flat indexes. Those of HNSW indexes end in a."""
DENSE = {"flat": DenseParams(kind="flat"), "hnsw": DenseParams(kind="hnsw", links=16, build_depth=64)}
_MIB = 1 << 20


def clustered(count: int, seed: int, centres: int = 1_000) -> np.ndarray:
    """Return (count, E) unit vectors. The cosine of two vectors of one cluster is about 0.5."""
    middle = np.random.default_rng(0).normal(size=(centres, DIMENSION)).astype(np.float32)
    rng = np.random.default_rng(seed + 1)
    made = middle[rng.integers(0, centres, count)] + rng.normal(size=(count, DIMENSION)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def corpus(count: int, seed: int) -> list[list[str]]:
    """Return words with the distribution of bm25_speed's corpora, drawn in one call."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(VOCABULARY) + 100)
    lengths = rng.integers(30, 90, count)
    names = [f"w{number}" for number in range(VOCABULARY)]
    drawn = [names[number] for number in rng.choice(VOCABULARY, int(lengths.sum()), p=weights / weights.sum())]
    ends = np.cumsum(lengths).tolist()
    return [drawn[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def build_id(engine: str, kind: str) -> str:
    """Return the build ID of an engine's index."""
    return PLACES[engine][:-1] + ("a" if kind == "hnsw" else PLACES[engine][-1])


def written(
    writer: IndexWriter, lexical: Any, vectors: np.ndarray, kind: str
) -> tuple[dict[str, float], int | None, float]:
    """Write both indexes. Returns the seconds of each, the search depth, and the recall that the build measured."""
    started = perf_counter()
    writer.write_words(lexical)
    words = perf_counter()
    built = writer.write_vectors(vectors, DENSE[kind], lambda *_: None)
    ended = perf_counter()
    recall = built.recall
    seconds = {"words_s": round(words - started, 1), "vectors_s": round(ended - words, 1)}
    return seconds, recall.search_depth if recall else None, recall.recall if recall else 1.0


def pss_mib(processes: list[psutil.Process]) -> float:
    """Return the proportional set size of processes and their descendants in MiB, which counts shared memory once."""
    total = 0
    for process in processes:
        for one in (process, *process.children(recursive=True)):
            try:
                total += one.memory_full_info().pss
            except psutil.Error:
                continue
    return total / _MIB


def local_memory(folder: Path, dimension_queries: int) -> float:
    """Return the MiB that opening and searching local files adds to a new process."""
    program = (
        "import sys, numpy as np, psutil\n"
        "from pathlib import Path\n"
        "from benchmarks.bm25_speed import queries\n"
        "from benchmarks.vector_engines import clustered\n"
        "from retrieval.engines.local import VECTORS, open_local\n"
        "from retrieval.sparse.bm25 import Bm25Params\n"
        "folder = Path(sys.argv[1]); vectors = clustered(int(sys.argv[2]), 7)\n"
        "before = psutil.Process().memory_full_info().uss\n"
        "opened = open_local(folder, (folder / VECTORS).stat().st_size, Bm25Params())\n"
        "for vector, words in zip(vectors, queries(len(vectors), 1)):\n"
        "    opened.dense.search(vector[None], 100); opened.lexical.search(words, 100)\n"
        "print((psutil.Process().memory_full_info().pss - before) / (1 << 20))\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(dimension_queries)]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


@contextmanager
def postgresql() -> Iterator[tuple[IndexEngine, list[psutil.Process], Callable[[], float]]]:
    """Start a server. Yields its engine, its process, and a function that returns its disk use in MiB."""
    from retrieval.engines.pgvector_engine import PgVectorEngine
    from tests.scale.postgresql import server

    with server("shared_buffers=512MB", "max_wal_size=4GB") as started:
        engine = PgVectorEngine(started.url)
        pid = int((started.folder / "cluster" / "postmaster.pid").read_text().splitlines()[0])

        def size() -> float:
            with engine.connection() as connection:
                return float(connection.execute("SELECT pg_database_size('postgres')").fetchone()[0]) / _MIB

        yield engine, [psutil.Process(pid)], size
        engine.close()


@contextmanager
def milvus_lite(folder: Path) -> Iterator[tuple[IndexEngine, list[psutil.Process], Callable[[], float]]]:
    """Start a server. Yields its engine, its process, and a function that returns its disk use in MiB."""
    from retrieval.engines.milvus_engine import MilvusEngine
    from tests.retrieval.engines.milvus_servers import milvus

    with milvus(folder / "served.db") as started:
        engine = MilvusEngine(started.url)
        yield engine, [psutil.Process(started.process.pid)], lambda: folder_mib(folder)
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--kinds", default="flat,hnsw")
    parser.add_argument("--engines", default="local,pgvector,milvus")
    parser.add_argument("--tiny", action="store_true", help="2,000 chunks and 10 queries, as a smoke test")
    arguments = parser.parse_args()
    count, query_count = (2_000, 10) if arguments.tiny else (arguments.chunks, arguments.queries)
    engines, kinds = arguments.engines.split(","), arguments.kinds.split(",")
    stored, vectors, words = clustered(count, 0), clustered(query_count, 7), queries(query_count, 1)
    lexical = build_bm25(corpus(count, 0), Bm25Params())
    exact = [set(np.argpartition(-(stored @ query), 10)[:10].tolist()) for query in vectors]
    rows: dict[str, dict[str, Any]] = {}
    opened: dict[str, OpenIndexes] = {}
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers: dict[str, Any] = {}
        if "pgvector" in engines:
            servers["pgvector"] = stack.enter_context(postgresql())
        if "milvus" in engines:
            servers["milvus"] = stack.enter_context(milvus_lite(home / "milvus"))
        for engine in engines:
            for kind in kinds:
                folder = home / f"{engine}-{kind}"
                folder.mkdir(parents=True)
                row = rows[f"{engine} {kind}"] = {}
                before = servers[engine][2]() if engine in servers else 0.0
                if engine == "local":
                    seconds, depth, recall = written(LocalWriter(folder), lexical, stored, kind)
                    opened[f"{engine} {kind}"] = open_local(folder, (folder / VECTORS).stat().st_size, Bm25Params())
                    row["disk_mib"] = folder_mib(folder)
                    row["memory_mib"] = local_memory(folder, query_count)
                else:
                    server = servers[engine][0]
                    identifier = build_id(engine, kind)
                    with server.writer(identifier, folder, "f" * 64, "bench") as writer:
                        seconds, depth, recall = written(writer, lexical, stored, kind)
                    facts = IndexFacts("f" * 64, count, DIMENSION, kind, depth, Bm25Params())
                    opened[f"{engine} {kind}"] = server.open(identifier, folder, facts)
                    row["disk_mib"] = servers[engine][2]() - before + folder_mib(folder)
                row.update(seconds, depth=depth, recall_of_build=round(recall, 4))
                print(f"{engine} {kind}", row, flush=True)
        measure(opened, rows, vectors, words, exact)
        for engine, (_, processes, _) in servers.items():
            for kind in kinds:
                rows[f"{engine} {kind}"]["server_mib"] = pss_mib(processes)
    show(rows)
    print(json.dumps({"benchmark": "vector_engines", "chunks": count, "queries": query_count, "rows": rows}))


def measure(
    opened: dict[str, OpenIndexes],
    rows: dict[str, dict[str, Any]],
    vectors: np.ndarray,
    words: list[list[str]],
    exact: list[set[int]],
) -> None:
    """Send each query to every engine, and add latencies, ratios, recall and equality to the rows."""
    rng = random.Random(0)
    times: dict[str, dict[str, list[float]]] = {name: {"dense": [], "words": []} for name in opened}
    shares: dict[str, list[float]] = {name: [] for name in opened}
    same = dict.fromkeys(opened, 0)
    for name in opened:  # the first query of each opens connections and reads pages
        opened[name].dense.search(vectors[:1], K)
        opened[name].lexical.search(words[0], K)
    for number, (vector, query) in enumerate(zip(vectors, words, strict=True)):
        results: dict[str, Any] = {}
        for name in rng.sample(list(opened), len(opened)):
            started = perf_counter()
            dense = opened[name].dense.search(vector[None], K)[0]
            between = perf_counter()
            sparse = opened[name].lexical.search(query, K)
            ended = perf_counter()
            times[name]["dense"].append(between - started)
            times[name]["words"].append(ended - between)
            shares[name].append(len(exact[number] & set(dense.positions[:10].tolist())) / 10)
            results[name] = (dense, sparse)
        for name in opened:
            local = results.get(f"local {name.split()[1]}")
            same[name] += local is not None and results[name] == local
    for name, row in rows.items():
        row["recall_at_10"] = round(float(np.mean(shares[name])), 4)
        row["equal_to_local"] = same[name]
        reference = times.get(f"local {name.split()[1]}")
        for part, seconds in times[name].items():
            row[f"{part}_ms"] = round(1000 * median(seconds), 2)
            row[f"{part}_p95_ms"] = round(1000 * float(np.quantile(seconds, 0.95)), 2)
            if reference is not None:
                pairs = zip(seconds, reference[part], strict=True)
                row[f"{part}_ratio"] = round(median(a / b for a, b in pairs), 1)


def show(rows: dict[str, dict[str, Any]]) -> None:
    """Print a Markdown table."""
    fields = [
        "words_s",
        "vectors_s",
        "recall_at_10",
        "equal_to_local",
        "dense_ms",
        "dense_p95_ms",
        "dense_ratio",
        "words_ms",
        "words_p95_ms",
        "words_ratio",
        "disk_mib",
        "memory_mib",
        "server_mib",
        "depth",
    ]
    print("| engine | " + " | ".join(fields) + " |")
    print("|---" * (len(fields) + 1) + "|")
    for name, row in rows.items():
        values = [row.get(field) for field in fields]
        shown = ["" if value is None else f"{value:,.0f}" if value > 200 else f"{value:g}" for value in values]
        print(f"| {name} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
