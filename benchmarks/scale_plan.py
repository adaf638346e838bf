"""Plan for 1 billion chunks and 10,000 queries/s: python -m benchmarks.scale_plan [--chunks 1e9] [--rate 10000].

No load is applied. The plan fits curves that this project measured (docs/experiments/indexing.md, 1,040 to 300,004
chunks, one thread) and uses them in a queueing simulation of sharded search. Each query goes to every shard of one
replica and waits for the slowest. A shard is a first-come first-served queue with one server per core. Service times
are lognormal. Their median follows the curve and their spread is assumed (--tail); docs/experiments/vector_engines.md
has a wider one, under load.

Two growth laws bracket what is not measured. "fitted" continues the power law of 10,006 to 300,004 chunks.
"logarithmic" lets the graph's part grow with log N beyond the largest measured size (Malkov and Yashunin, TPAMI 2020)
and keeps the words' part linear. "routed" is logarithmic with queries that go to one shard in twenty, as if chunks were
assigned to shards by topic; its cost in recall is not measured. Everything beyond 300,004 chunks per shard is
extrapolation. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

SIZES = (1_040, 3_019, 10_006, 30_004, 100_018, 300_004)
QUERY_MS = {"flat": (0.4, 0.5, 0.9, 2.4, 7.3, 32.2), "hnsw": (0.7, 0.6, 0.7, 1.4, 5.2, 10.9)}
BUILD_S = {"flat": (1.4, 2.5, 8.2, 24.3, 95.9, 438.9), "hnsw": (1.1, 2.7, 10.0, 46.7, 260.9, 755.0)}
DISK_MIB = {"flat": (6, 17, 49, 137, 443, 1_317), "hnsw": (6, 18, 51, 145, 469, 1_394)}
WORDS_MS_PER_MILLION = 2.4
"""Milliseconds of BM25 per million chunks: 0.24 ms at 100,000 chunks, linear in the chunks
(docs/experiments/retrieval.md).
"""
ENCODE_MS = 8.0
"""Milliseconds of MiniLM for one query on one core (docs/experiments/retrieval.md: half of 16 ms)."""
READER_MS = 212.0
"""Milliseconds of processor time of the embedded reader for one answer (docs/experiments/service.md, 32 concurrent)."""
CHUNK_OBJECT_BYTES = 674
"""Bytes of a Chunk with 426 characters in a process that answers, measured with tracemalloc."""
ROUTED = 20
"""Number of shards of which one is searched, if queries are routed."""
DIMENSION, LINKS = 384, 32
_MIB, _GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: cores, memory in GiB, and prices in dollars per hour, which are assumptions."""

    cores: int = 32
    memory_gib: int = 256
    per_core_hour: float = 0.04
    per_gib_hour: float = 0.004

    @property
    def per_hour(self) -> float:
        return self.cores * self.per_core_hour + self.memory_gib * self.per_gib_hour


@dataclass(frozen=True, slots=True)
class Plan:
    """One row of the plan: the needs of a replica, and the results of the simulation."""

    shard_chunks: int
    shards: int
    beyond_measured: float
    service_ms: float
    memory_gib: float
    replicas: int
    machines: int
    utilisation: float
    p50_ms: float
    p99_ms: float
    dollars_per_month: float


def power_law(sizes: tuple[int, ...], values: tuple[float, ...]) -> tuple[float, float]:
    """Return (a, b) of a n^b, by least squares of the logarithms."""
    slope, intercept = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(np.exp(intercept)), float(slope)


def query_ms(chunks: float, law: str) -> float:
    """Return the processor time of one search of a shard with HNSW and BM25, without encoding the query."""
    largest, measured = SIZES[-1], QUERY_MS["hnsw"]
    if law == "fitted":
        a, b = power_law(SIZES[2:], measured[2:])
        return a * chunks**b
    words = WORDS_MS_PER_MILLION * chunks / 1e6
    graph = measured[-1] - WORDS_MS_PER_MILLION * largest / 1e6
    return words + graph * max(1.0, math.log(chunks) / math.log(largest))


def bytes_per_chunk(quantised: bool = False) -> dict[str, float]:
    """Return the bytes of one chunk in the memory of a process that answers from local files, and on disk."""
    return {
        "vector": DIMENSION * (1 if quantised else 4),
        "graph": 8.0 * LINKS,
        "words": 8.0 * 45,  # distinct words of a chunk, weight and position
        "text and ids": CHUNK_OBJECT_BYTES + 56,
        "disk": float(np.polyfit(SIZES, DISK_MIB["hnsw"], 1)[0]) * _MIB,
    }


def service_times(
    rng: np.random.Generator, median_ms: float, tail: float, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Draw lognormal service times. tail: quotient of 95th percentile and median."""
    return np.asarray(median_ms * np.exp(math.log(tail) / 1.645 * rng.normal(size=shape)))


def simulate(
    rate: float,
    shards: int,
    cores: int,
    median_ms: float,
    tail: float,
    queries: int = 10_000,
    seed: int = 0,
    fan_out: int | None = None,
) -> NDArray[np.float64]:
    """Return latencies in ms of queries that arrive at ``rate`` per second (Poisson) and wait for their slowest shard.

    fan_out: number of random shards that a query goes to; None for all.

    The first tenth of the queries, during which the queues fill, is left out.
    """
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1_000 / rate, queries))
    free = np.zeros((shards, cores))
    every = np.arange(shards)
    latencies = np.empty(queries)
    for number in range(queries):
        at = arrivals[number]
        rows = every if fan_out is None else rng.choice(shards, fan_out, replace=False)
        chosen = free[rows].argmin(axis=1)
        took = service_times(rng, median_ms, tail, (len(rows), 1))[:, 0]
        ends = np.maximum(free[rows, chosen], at) + took
        free[rows, chosen] = ends
        latencies[number] = ends.max() - at
    return latencies[queries // 10 :]


def planned(
    chunks: float, rate: float, shard_chunks: int, law: str, machine: Machine, tail: float, load: float, queries: int
) -> Plan:
    """Return the machines for shards of this size at this utilisation of their cores, and the resulting latency."""
    shards = math.ceil(chunks / shard_chunks)
    fan_out = max(1, round(shards / ROUTED)) if law == "routed" else None
    median_ms = query_ms(shard_chunks, law)
    mean_ms = median_ms * math.exp((math.log(tail) / 1.645) ** 2 / 2)
    memory = sum(value for name, value in bytes_per_chunk().items() if name != "disk") * shard_chunks / _GIB
    # Small shards share a machine; its cores are divided among them.
    per_machine = max(1, int(machine.memory_gib * 0.8 // memory))
    cores = max(1, machine.cores // per_machine)
    per_machine = min(per_machine, machine.cores)
    busy = mean_ms / 1_000 * (1.0 if fan_out is None else fan_out / shards)  # core-seconds of one shard for one query
    replicas = math.ceil(rate * busy / (cores * load))
    share = rate / replicas
    latencies = simulate(share, shards, cores, median_ms, tail, queries, fan_out=fan_out)
    machines = replicas * math.ceil(shards / per_machine) * max(1, math.ceil(memory / (machine.memory_gib * 0.8)))
    return Plan(
        shard_chunks,
        shards,
        shard_chunks / SIZES[-1],
        round(median_ms, 1),
        round(memory, 1),
        replicas,
        machines,
        round(share * busy / cores, 2),
        round(float(np.median(latencies)), 1),
        round(float(np.quantile(latencies, 0.99)), 1),
        round(machines * machine.per_hour * 730),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=float, default=1e9)
    parser.add_argument("--rate", type=float, default=10_000, help="queries per second")
    parser.add_argument("--tail", type=float, default=1.6, help="95th percentile over median of one shard's search")
    parser.add_argument("--load", type=float, default=0.5, help="utilisation of the cores")
    parser.add_argument("--queries", type=int, default=4_000, help="simulated queries per row")
    arguments = parser.parse_args()
    machine = Machine()
    print("fits of 10,006 to 300,004 chunks, a n^b:")
    for name, curve in (("query, ms", QUERY_MS), ("build, s", BUILD_S)):
        for kind in curve:
            a, b = power_law(SIZES[2:], curve[kind][2:])
            print(f"  {name}, {kind}: {a:.3g} n^{b:.2f}")
    print("bytes per chunk:", {name: round(value) for name, value in bytes_per_chunk().items()})
    rows: dict[str, list[dict[str, float]]] = {}
    for law in ("fitted", "logarithmic", "routed"):
        rows[law] = []
        print(f"\n{law}:")
        print("| shard | shards | beyond | search, ms | GiB | replicas | machines | load | p50 | p99 | $/month |")
        print("|---" * 11 + "|")
        for size in (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000):
            given = (arguments.chunks, arguments.rate, size, law, machine, arguments.tail, arguments.load)
            plan = planned(*given, arguments.queries)
            rows[law].append(asdict(plan))
            print(
                f"| {size:,} | {plan.shards:,} | {plan.beyond_measured:.0f}x | {plan.service_ms} | {plan.memory_gib} | "
                f"{plan.replicas:,} | {plan.machines:,} | {plan.utilisation} | {plan.p50_ms} | {plan.p99_ms} | "
                f"{plan.dollars_per_month:,.0f} |"
            )
    cores = {"encoding": arguments.rate * ENCODE_MS / 1_000, "reader": arguments.rate * READER_MS / 1_000}
    print("\ncores for", {name: round(value) for name, value in cores.items()})
    print(json.dumps({"benchmark": "scale_plan", "machine": asdict(machine), "rows": rows, "cores": cores}))


if __name__ == "__main__":
    main()
