"""Ray compared with the local engine on one machine: python -m benchmarks.ray_engine [--tiny] [--task index|verify].

It needs the extra `ray`. "index" is the job of `plumbline index` (read, split, embed with MiniLM, count words, write,
publish) on sample articles. Its encoder runs in a process of its own, or in one or two workers of a cluster on this
machine. "verify" is `plumbline verify` on pairs in blocks of 32. Engines alternate, and each is first in one round.
Models are loaded and warm before the measurement; the time to open them is shown separately.

With OMP_NUM_THREADS=1 every copy of a model computes on one processor: one for the local engine and for one worker, two
for two workers. Time is bound by the model's products on these processors. "bare" makes the same calls of the encoder
in this process, with nothing around them. CPU seconds are those of this process and all its descendants; they depend
less on other load. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import psutil

from app.cluster.executor import ClusterOptions, RayExecutor
from app.judging.answer_judge import JudgePlan
from app.judging.distributed import open_claim_checker
from app.judging.verification import CheckedClaim, ClaimPair
from app.models.encoders import open_encoder
from data.block_work import BlockExecutor, LocalExecutor, in_order
from data.documents import Document
from data.loaders import load_documents
from data.samples_paths import sample_corpus_path
from data.store import Store
from evaluation.verifiers.evidence import EvidenceText
from retrieval.chunking.chunker import ChunkingParams, chunk_document, searchable_text
from retrieval.encoding.adapted import adapted
from retrieval.encoding.distributed_encoder import DistributedEncoder
from retrieval.encoding.encoder import Encoder, encode_calls
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.indexing.indexer import JobParams, index_documents

ENGINES = ("local", "ray 1", "ray 2")
BLOCK = 32
MAKE = partial(open_encoder, "", "cpu", "auto")


@dataclass(frozen=True)
class Measured:
    """Result of one run. items: number of chunks or pairs. seconds, cpu: wall-clock and CPU seconds. opening: seconds
    to open the engine before the run.
    """

    items: int
    seconds: float
    cpu: float
    opening: float


class CpuMeter:
    """A measurement of the CPU seconds of this process and its descendants in a with block. Processes that end count as
    last seen.
    """

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.seconds = 0.0

    def __enter__(self) -> CpuMeter:
        self._look()
        self._before = sum(self._seen.values())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()
        self.seconds = sum(self._seen.values()) - self._before

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            self._look()

    def _look(self) -> None:
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            with suppress(psutil.Error):
                self._seen[process.pid] = sum(process.cpu_times()[:2])


@contextmanager
def engine(name: str) -> Iterator[BlockExecutor | None]:
    if name == "local":
        yield None
        return
    with RayExecutor(ClusterOptions(workers=int(name.split()[1]))) as executor:
        yield executor


def index(name: str, given: Sequence[Document]) -> Measured:
    started = time.perf_counter()
    with ExitStack() as stack:
        executor = stack.enter_context(engine(name))
        encoder: Encoder
        if executor is None:
            encoder = stack.enter_context(SubprocessEncoder(MAKE))
        else:
            encoder = DistributedEncoder(executor, MAKE)
        list(encode_calls(encoder, [["warm"] * 4] * 8))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = stack.enter_context(Store.open(f"sqlite:///{folder}/p.db"))
        opening = time.perf_counter() - started
        with CpuMeter() as cpu:
            begun = time.perf_counter()
            report = index_documents(store, Path(folder), "c", given, encoder, job=JobParams(workers=1))
            seconds = time.perf_counter() - begun
        return Measured(report.chunks, seconds, cpu.seconds, opening)


def bare(given: Sequence[Document]) -> Measured:
    started = time.perf_counter()
    encoder = adapted(MAKE(), None)
    encoder.encode_passages(["warm"] * 4)
    texts = [searchable_text(c) for d in given for c in chunk_document(d, encoder.count_tokens, ChunkingParams())]
    texts.sort(key=len)
    opening = time.perf_counter() - started
    with CpuMeter() as cpu:
        begun = time.perf_counter()
        for start in range(0, len(texts), 128):
            encoder.encode_passages(texts[start : start + 128])
        seconds = time.perf_counter() - begun
    return Measured(len(texts), seconds, cpu.seconds, opening)


def verify(name: str, pairs: Sequence[ClaimPair]) -> Measured:
    started = time.perf_counter()
    with engine(name) as executor:
        make = partial(open_claim_checker, JudgePlan("entailment", device="cpu"), words=False)
        workers = (executor or LocalExecutor()).workers(make)
        warm: list[tuple[CheckedClaim, ...]] = list(in_order(workers, [list(pairs[:2])] * 4))
        assert len(warm) == 4
        opening = time.perf_counter() - started
        blocks = [list(pairs[start : start + BLOCK]) for start in range(0, len(pairs), BLOCK)]
        with CpuMeter() as cpu:
            begun = time.perf_counter()
            done = sum(len(checked) for checked in in_order(workers, blocks))
            seconds = time.perf_counter() - begun
        return Measured(done, seconds, cpu.seconds, opening)


def corpus(chunks: int) -> tuple[list[Document], list[ClaimPair]]:
    """Return about this number of chunks of sample articles, copied with other titles, and pairs with their
    sentences.
    """
    read = [one for one in load_documents([sample_corpus_path()]) if isinstance(one, Document)]
    copies = max(1, round(chunks / 247))
    documents = [
        Document(f"{n}/{one.id}", f"{one.title} {n}", one.text.replace(". ", f" ({n}). "))
        for n in range(copies)
        for one in read
    ]
    pairs = [
        ClaimPair(sentence, (EvidenceText("d", one.text[:600], 0),))
        for one in documents
        for sentence in one.text.split(". ")[:4]
        if any(c.isalnum() for c in sentence)
    ]
    return documents, pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="a few items once, as a smoke test")
    parser.add_argument("--task", choices=("index", "verify"), action="append", help="only this task (default both)")
    parser.add_argument("--chunks", type=int, default=1500, help="number of chunks to index")
    parser.add_argument("--pairs", type=int, default=1024, help="number of pairs to verify")
    parser.add_argument("--rounds", type=int, default=3, help="number of runs of each engine")
    arguments = parser.parse_args()
    rounds = 1 if arguments.tiny else arguments.rounds
    documents, pairs = corpus(247 if arguments.tiny else arguments.chunks)
    chosen = list(islice(pairs, 64 if arguments.tiny else arguments.pairs))
    tasks = arguments.task or ["index", "verify"]
    jobs: dict[str, Callable[[], Measured]] = {}
    if "index" in tasks:
        jobs |= {f"index, {name}": partial(index, name, documents) for name in ENGINES}
        jobs["index, bare"] = partial(bare, documents)
    if "verify" in tasks:
        jobs |= {f"verify, {name}": partial(verify, name, chosen) for name in ENGINES}
    results: dict[str, list[Measured]] = {name: [] for name in jobs}
    for number in range(rounds):
        names = list(jobs)
        for name in names[number % 3 :] + names[: number % 3]:
            results[name].append(jobs[name]())
            last = results[name][-1]
            load = os.getloadavg()[0]
            print(
                f"{name:<14} {last.items} in {last.seconds:.1f} s, {last.cpu:.1f} CPU s; opening {last.opening:.1f} s; "
                f"load {load:.0f}",
                flush=True,
            )
    result = {
        name: {
            "items": runs[0].items,
            "items_per_s": round(statistics.median(r.items / r.seconds for r in runs), 1),
            "cpu_ms_per_item": round(statistics.median(1000 * r.cpu / r.items for r in runs), 2),
            "opening_s": round(statistics.median(r.opening for r in runs), 1),
        }
        for name, runs in results.items()
    }
    for task in tasks:
        for name in ENGINES[1:]:
            pairs_of_runs = list(zip(results[f"{task}, {name}"], results[f"{task}, local"], strict=True))
            result[f"{task}, {name}"]["time_over_local"] = round(
                statistics.median(a.seconds / b.seconds for a, b in pairs_of_runs), 2
            )
            result[f"{task}, {name}"]["cpu_over_local"] = round(
                statistics.median(a.cpu / b.cpu for a, b in pairs_of_runs), 2
            )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
