"""Streamed queries against `plumbline serve` on loopback: python -m benchmarks.service_load.

Requests/s, p50 and p99 of whole answers, and time to the first text, at 1, 8 and 32 at once, in a closed loop: each
client asks its next question when it has the last one's answer.

reader: the embedded reader. The peer is the same work called directly in this process, as a program would that has all
questions at hand: as many questions at once as there are clients are searched together, made prompts, and given to the
engine together. At 1 the service may add 5 ms to the median; at 32 its throughput may be a tenth less.

135M: a random Llama of that shape, without retrieval, 32 new tokens. The peer is a FastAPI handler on the same uvicorn
that calls transformers' generate, one request at a time; at 32 the service should answer three times as many.

Both are limited by the matrix products of prompts and steps. Client, server and peer share the cores: the client is one
thread that reads sockets. Service and peer take turns, question by question the same. Ends in one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2
import torch
import uvicorn
from fastapi import FastAPI

from app.commands.serve import SWITCH_S
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from benchmarks.engine_peers import SMOL_135M, TINY, Shape
from benchmarks.service_peers import Times, direct, generate_handler, llama_folder
from data.loaders import load_documents, load_question_files
from data.samples_paths import sample_corpus_path, sample_question_paths
from model.device import keep_freed_memory

OVERHEAD_MS, OVERHEAD_SHARE, TIMES = 5.0, 0.10, 3.0
LEAST_REQUESTS = 24  # a median of four says little


@dataclass(frozen=True, slots=True)
class Load:
    """Of one side at one number of clients. Seconds; first: to the first text, None where nothing is streamed."""

    side: str
    clients: int
    requests: int
    per_second: float
    p50: float
    p99: float
    first_p50: float | None


def main() -> None:
    given = _arguments()
    if given.threads:
        torch.set_num_threads(given.threads)
    keep_freed_memory()
    sys.setswitchinterval(SWITCH_S)  # as plumbline serve does
    clients = [1, 2] if given.tiny else [1, 8, 32]
    with tempfile.TemporaryDirectory() as folder:
        loads = [] if given.only == "135M" else reader_loads(Path(folder), clients, given)
        loads += [] if given.only == "reader" else llama_loads(Path(folder), clients, given)
    for load in loads:
        first = "" if load.first_p50 is None else f", first text {1000 * load.first_p50:.0f} ms"
        print(
            f"{load.side:18} {load.clients:3} at once: {load.per_second:6.2f}/s, p50 {1000 * load.p50:.0f} ms, "
            f"p99 {1000 * load.p99:.0f} ms{first}"
        )
    print(json.dumps({"benchmark": "service_load", "loads": [asdict(load) for load in loads], **verdict(loads)}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="the service under load")
    parser.add_argument("--tiny", action="store_true", help="tiny models and little work: shows that it runs")
    parser.add_argument("--rounds", type=int, default=None, help="questions of each client (default 4, tiny 1)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--only", choices=("reader", "135M"), default=None, help="one of the two comparisons")
    given = parser.parse_args()
    given.rounds = given.rounds or (1 if given.tiny else 4)
    return given


def reader_loads(folder: Path, clients: Sequence[int], given: argparse.Namespace) -> list[Load]:
    """The embedded reader on the sample corpus: service and direct calls in turns."""
    questions = [question.text for question in load_question_files(sample_question_paths())]
    settings = Settings(home=folder / "home", database="", encoder="", model="", device="cpu")
    with Pipeline(settings) as pipeline:
        documents = list(load_documents([sample_corpus_path()]))
        pipeline.index("samples", documents[:6] if given.tiny else documents)
        with served(create_app(pipeline)) as url:
            bodies = [{"question": text, "collection": "samples", "stream": True} for text in questions]
            warm(lambda: asyncio.run(closed_loop(url, "/v1/query", bodies, max(clients), 1)))
            warm(lambda: direct(pipeline, "samples", questions, 1, 2))
            loads = []
            for count in clients:
                rounds = given.rounds if given.tiny else max(given.rounds, LEAST_REQUESTS // count)
                times = asyncio.run(closed_loop(url, "/v1/query", bodies, count, rounds))
                loads.append(load("reader, service", count, times))
                loads.append(load("reader, direct", count, direct(pipeline, "samples", questions, count, rounds)))
            return loads


def llama_loads(folder: Path, clients: Sequence[int], given: argparse.Namespace) -> list[Load]:
    """A random Llama: service and a plain handler in turns."""
    shape: Shape = TINY if given.tiny else SMOL_135M
    tokens = 4 if given.tiny else 32
    model = llama_folder(folder / "llama", shape)
    questions = [question.text for question in load_question_files(sample_question_paths())]
    settings = Settings(home=folder / "home", database="", encoder="", model=str(model), device="cpu")
    with Pipeline(settings) as pipeline:
        bodies = [
            {"question": text, "retrieval": False, "max_tokens": tokens, "stream": True, "temperature": 1.0}
            for text in questions
        ]
        with served(create_app(pipeline)) as url, served(generate_handler(model, tokens)) as peer:
            for place in (url, peer):
                warm(lambda place=place: asyncio.run(closed_loop(place, "/v1/query", bodies, 1, 1)))
            loads = []
            for count in clients:
                for side, place in (("135M, service", url), ("135M, generate", peer)):
                    times = asyncio.run(closed_loop(place, "/v1/query", bodies, count, given.rounds))
                    loads.append(load(side, count, times))
            return loads


async def closed_loop(url: str, path: str, bodies: Sequence[dict[str, Any]], count: int, rounds: int) -> Times:
    """So many clients, each of which asks ``rounds`` questions one after the other."""
    answers: list[float] = []
    firsts: list[float] = []
    limits = httpx2.Limits(max_connections=count, max_keepalive_connections=count)
    async with httpx2.AsyncClient(base_url=url, timeout=3600, limits=limits) as client:

        async def one(number: int) -> None:
            for turn in range(rounds):
                body = bodies[(number + turn * count) % len(bodies)]
                begun, first = perf_counter(), None
                async with client.stream("POST", path, json={**body, "seed": number + turn * count}) as response:
                    assert response.status_code == 200, await response.aread()
                    async for line in response.aiter_lines():
                        if first is None and line == "event: text":
                            first = perf_counter() - begun
                        assert line != "event: error", line
                answers.append(perf_counter() - begun)
                if first is not None:
                    firsts.append(first)

        begun = perf_counter()
        await asyncio.gather(*(one(number) for number in range(count)))
        return Times(perf_counter() - begun, tuple(answers), tuple(firsts))


def load(side: str, clients: int, times: Times) -> Load:
    """The figures of a run."""
    ordered = sorted(times.answers)
    return Load(
        side,
        clients,
        len(ordered),
        len(ordered) / times.wall,
        statistics.median(ordered),
        ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))],
        statistics.median(times.firsts) if times.firsts else None,
    )


def verdict(loads: Sequence[Load]) -> dict[str, object]:
    """What was asked of the service, and what came of it."""
    by = {(one.side, one.clients): one for one in loads}
    least, most = min(c for _, c in by), max(c for _, c in by)
    found: dict[str, float] = {}
    met: dict[str, bool] = {}
    if ("reader, service", most) in by:
        added = 1000 * (by["reader, service", least].p50 - by["reader, direct", least].p50)
        share = 1 - by["reader, service", most].per_second / by["reader, direct", most].per_second
        found |= {"overhead_ms_at_one": added, "overhead_share_at_most": share}
        met |= {"overhead_ms_at_one": added <= OVERHEAD_MS, "overhead_share_at_most": share <= OVERHEAD_SHARE}
    if ("135M, service", most) in by:
        times = by["135M, service", most].per_second / by["135M, generate", most].per_second
        found["times_generate_at_most"] = times
        met["times_generate_at_most"] = times >= TIMES
    return {**found, "met": met}


def warm(call: Callable[[], object]) -> None:
    """Once, before anything is timed."""
    call()


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The app on a free port of loopback, in a thread; its URL."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server ended before it accepted"
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
