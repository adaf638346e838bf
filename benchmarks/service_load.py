"""Streamed queries to the service over loopback: python -m benchmarks.service_load.

It measures requests/s, p50 and p99 of complete answers, time to the first text, and processor seconds per request, at
1, 8 and 32 concurrent clients. Each client runs a closed loop: it sends its next question when it has the previous
answer.

The case reader is the embedded reader. Its peers run in the server's process with the same concurrency, as in a program
that has all questions at the start. "direct" searches, builds prompts and generates. "same work" also locates sources,
serialises the answer as JSON and stores the query, as the service does. Targets: with 1 client the service adds at most
5 ms to the median of "direct"; with 32 its throughput is at most a tenth lower.

The case 135M is a random Llama of that size, without retrieval, with 32 new tokens. The peer is a FastAPI handler on
the same uvicorn that calls transformers' generate, one request at a time. Target: with 32 clients the service answers
three times as many requests.

Both are bound by the matrix products of prompts and steps. The clients are a separate process
(benchmarks/service_clients.py), which shares the cores; its processor time is reported separately. Sides alternate with
the same questions. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import torch
import uvicorn

from app.commands.serve import SWITCH_S
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.server import server_config
from app.settings import Settings
from benchmarks.engine_peers import SMOL_135M, TINY, Shape
from benchmarks.service_clients import Times, Work
from benchmarks.service_peers import direct, generate_handler, llama_folder
from data.loaders import load_documents, load_question_files
from data.samples_paths import sample_corpus_path, sample_question_paths
from model.hardware.freed_memory import keep_freed_memory

OVERHEAD_MS, OVERHEAD_SHARE, TIMES = 5.0, 0.10, 3.0
LEAST_REQUESTS = 48  # a median of four is unreliable; with 24 prompts the engine still caches some when they come again
READER_SIDES = ("service", "direct", "same work")


@dataclass(frozen=True, slots=True)
class Load:
    """Load on one side with one number of clients, in seconds.

    first_p50: median time to the first text; None without streaming.
    processor: processor time of the answering process, per request.
    clients_processor: processor time of the clients, per request.
    """

    side: str
    clients: int
    requests: int
    per_second: float
    p50: float
    p99: float
    first_p50: float | None
    processor: float
    clients_processor: float = 0.0


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
            f"p99 {1000 * load.p99:.0f} ms{first}, processor {1000 * load.processor:.0f} ms"
        )
    print(json.dumps({"benchmark": "service_load", "loads": [asdict(load) for load in loads], **verdict(loads)}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="the service under load")
    parser.add_argument("--tiny", action="store_true", help="tiny models and little work, as a smoke test")
    parser.add_argument("--rounds", type=int, default=None, help="questions of each client (default 4, tiny 1)")
    parser.add_argument("--turns", type=int, default=None, help="runs of every side (default 2, tiny 1)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--only", choices=("reader", "135M"), default=None, help="one of the two comparisons")
    given = parser.parse_args()
    given.rounds = given.rounds or (1 if given.tiny else 4)
    given.turns = given.turns or (1 if given.tiny else 2)
    return given


def reader_loads(folder: Path, clients: Sequence[int], given: argparse.Namespace) -> list[Load]:
    """Measure the embedded reader on the sample corpus: service and direct calls, interleaved."""
    questions = [question.text for question in load_question_files(sample_question_paths())]
    settings = Settings(home=folder / "home", database="", encoder="", model="", device="cpu")
    with Pipeline(settings) as pipeline:
        documents = list(load_documents([sample_corpus_path()]))
        pipeline.index("samples", documents[:6] if given.tiny else documents)
        with served(server_config(create_app(pipeline), port=0)) as port:
            bodies = tuple({"question": text, "collection": "samples", "stream": True} for text in questions)

            def asked(side: str, count: int, rounds: int) -> Times:
                if side == "service":
                    return closed_loop(Work(port, "/v1/query", bodies, count, rounds))
                return direct(pipeline, "samples", questions, count, rounds, whole=side == "same work")

            rounds = {c: given.rounds if given.tiny else max(given.rounds, LEAST_REQUESTS // c) for c in clients}
            # Warm up with all questions: oneDNN compiles its kernels for every new prompt length.
            direct(pipeline, "samples", questions, 1, min(len(questions), max(c * rounds[c] for c in clients)))
            for side in READER_SIDES:
                asked(side, max(clients), 1)
            loads = []
            for count in clients:
                loads += in_turns("reader", READER_SIDES, asked, count, rounds[count], given.turns)
            return loads


def llama_loads(folder: Path, clients: Sequence[int], given: argparse.Namespace) -> list[Load]:
    """Measure a random Llama: service and a plain handler, interleaved."""
    shape: Shape = TINY if given.tiny else SMOL_135M
    tokens = 4 if given.tiny else 32
    model = llama_folder(folder / "llama", shape)
    questions = [question.text for question in load_question_files(sample_question_paths())]
    settings = Settings(home=folder / "home", database="", encoder="", model=str(model), device="cpu")
    with Pipeline(settings) as pipeline:
        bodies = tuple(
            {"question": text, "retrieval": False, "max_tokens": tokens, "stream": True, "temperature": 1.0}
            for text in questions
        )
        handler = uvicorn.Config(generate_handler(model, tokens), port=0, log_level="warning", access_log=False)
        with served(server_config(create_app(pipeline), port=0)) as port, served(handler) as peer:
            ports = {"service": port, "generate": peer}

            def asked(side: str, count: int, rounds: int) -> Times:
                return closed_loop(Work(ports[side], "/v1/query", bodies, count, rounds))

            for side in ports:
                asked(side, 1, 1)
            # One turn each, since the handler takes minutes with 32 clients.
            return [load for count in clients for load in in_turns("135M", tuple(ports), asked, count, given.rounds, 1)]


def in_turns(
    model: str, sides: Sequence[str], asked: Callable[[str, int, int], Times], count: int, rounds: int, turns: int
) -> list[Load]:
    """Run every side ``turns`` times, alternating. asked: runs a side with the numbers of clients and rounds."""
    runs: dict[str, list[tuple[Times, float]]] = {side: [] for side in sides}
    for _ in range(turns):
        for side in sides:
            before = process_time()
            times = asked(side, count, rounds)
            runs[side].append((times, process_time() - before))
    return [load(f"{model}, {side}", count, runs[side]) for side in sides]


def closed_loop(work: Work) -> Times:
    """Run the work with clients in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.service_clients"],
        input=json.dumps(asdict(work)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Times(**json.loads(done.stdout))


def load(side: str, clients: int, runs: Sequence[tuple[Times, float]]) -> Load:
    """Return the figures of runs. runs: times, and processor seconds of the answering process."""
    ordered = sorted(second for times, _ in runs for second in times.answers)
    firsts = [second for times, _ in runs for second in times.firsts]
    count = len(ordered)
    return Load(
        side,
        clients,
        count,
        count / sum(times.wall for times, _ in runs),
        statistics.median(ordered),
        ordered[min(count - 1, int(0.99 * count))],
        statistics.median(firsts) if firsts else None,
        sum(used for _, used in runs) / count,
        sum(times.processor for times, _ in runs) / count,
    )


def verdict(loads: Sequence[Load]) -> dict[str, object]:
    """Return the figures of the targets, and whether they are met."""
    by = {(one.side, one.clients): one for one in loads}
    least, most = min(c for _, c in by), max(c for _, c in by)
    figures: dict[str, float] = {}
    met: dict[str, bool] = {}
    if ("reader, service", most) in by:
        one, many = by["reader, service", least], by["reader, service", most]
        for side in READER_SIDES[1:]:
            alone, together = by[f"reader, {side}", least], by[f"reader, {side}", most]
            name = side.replace(" ", "_")
            figures[f"ms_over_{name}_at_one"] = 1000 * (one.p50 - alone.p50)
            figures[f"processor_ms_over_{name}_at_one"] = 1000 * (one.processor - alone.processor)
            figures[f"share_below_{name}_at_most"] = 1 - many.per_second / together.per_second
            figures[f"processor_ms_over_{name}_at_most"] = 1000 * (many.processor - together.processor)
        met["overhead_ms_at_one"] = figures["ms_over_direct_at_one"] <= OVERHEAD_MS
        met["overhead_share_at_most"] = figures["share_below_direct_at_most"] <= OVERHEAD_SHARE
    if ("135M, service", most) in by:
        times = by["135M, service", most].per_second / by["135M, generate", most].per_second
        figures["times_generate_at_most"] = times
        met["times_generate_at_most"] = times >= TIMES
    return {**figures, "met": met}


@contextmanager
def served(config: uvicorn.Config) -> Iterator[int]:
    """Run a server in a thread and yield its port."""
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server ended before it accepted"
            thread.join(0.01)
        yield int(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
