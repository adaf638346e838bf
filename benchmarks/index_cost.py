"""Cost of an index by corpus size: python -m benchmarks.index_cost [--sizes 1000,10000] [--output cost.svg].

For each number of chunks it measures seconds to build, peak memory, disk, and the median time of a query, for the flat
index and for HNSW. Each case runs in its own process, so that memory is separate. It uses the fake encoder
(benchmarks/hashing_encoder.py), because a real one takes hours for 300,000 chunks. The time of embedding is linear in
the chunks; benchmarks/index_end_to_end.py measures it. Time is bound by one core of Python for the words, and by
distance computations for HNSW. It draws an SVG; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.corpus import add_corpus, articles
from benchmarks.hashing_encoder import HashingEncoder
from benchmarks.index_incremental import enough
from benchmarks.index_memory import INDEXES
from benchmarks.line_plots import Line, Panel, svg
from benchmarks.measuring import PeakMemory, folder_mib
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import index_documents

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
KINDS = ("flat", "hnsw")
QUERIES = 50


def measured(data: Path, tiny: bool, chunks: int, kind: str) -> dict[str, float]:
    """Return the figures of one size and one kind of index, measured in this process."""
    encoder = HashingEncoder()
    documents = enough(articles(data, None, tiny), encoder, chunks)
    with tempfile.TemporaryDirectory() as name, Store.open(f"sqlite:///{name}/p.db") as store:
        with PeakMemory() as memory:
            started = time.perf_counter()
            report = index_documents(
                store, Path(name), "c", documents, encoder, params=IndexParams.for_new_index(dense=INDEXES[kind])
            )
            build = time.perf_counter() - started
        disk = folder_mib(Path(name))
        retriever = open_retriever(store, Path(name), "c", encoder)
        seconds = []
        for document in documents[:: max(1, len(documents) // QUERIES)]:
            started = time.perf_counter()
            retriever.retrieve(document.text[:80], 10)
            seconds.append(time.perf_counter() - started)
    return {
        "chunks": report.chunks,
        "build_s": round(build, 2),
        "peak_mib": round(memory.peak),
        "disk_mib": round(disk, 1),
        "query_ms": round(1000 * statistics.median(seconds), 3),
        "recall": report.recall if report.recall is not None else 1.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument(
        "--sizes", default=None, help="numbers of chunks, comma-separated (default 1000 to 300000; tiny 300,1000)"
    )
    parser.add_argument("--output", type=Path, default=None, help="file for the plot (.svg)")
    # "kind:chunks", with which the script starts itself as a subprocess
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        kind, chunks = arguments.one.split(":")
        print(json.dumps(measured(arguments.data, arguments.tiny, int(chunks), kind)))
        return
    sizes = [int(size) for size in arguments.sizes.split(",")] if arguments.sizes else None
    sizes = sizes or ([300, 1000] if arguments.tiny else list(SIZES))
    rows: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for chunks in sizes:
        for kind in KINDS:
            command = [sys.executable, "-m", "benchmarks.index_cost", "--one", f"{kind}:{chunks}"]
            command += ["--data", str(arguments.data), *(["--tiny"] if arguments.tiny else [])]
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            rows[kind].append(json.loads(out.splitlines()[-1]))
            print(kind, rows[kind][-1])
    if arguments.output:
        panels = [
            Panel(title, "chunks", tuple(Line(kind, _points(rows[kind], field)) for kind in KINDS))
            for title, field in (
                ("build time, s (without embedding)", "build_s"),
                ("peak memory, MiB", "peak_mib"),
                ("disk, MiB", "disk_mib"),
                ("query, ms (without encoding it)", "query_ms"),
            )
        ]
        arguments.output.write_text(svg(panels), encoding="utf-8")
        print(f"drawn: {arguments.output}")
    print(json.dumps({"benchmark": "index_cost", "encoder": "hashing", "tiny": arguments.tiny, "rows": rows}))


def _points(rows: list[dict[str, float]], field: str) -> tuple[tuple[float, float], ...]:
    return tuple((row["chunks"], max(row[field], 1e-3)) for row in rows)


if __name__ == "__main__":
    main()
