"""SQLite compared with PostgreSQL, and one API process with two: python -m benchmarks.processes [--part store|service].

The part store measures operations/s of 1 and of 4 processes on one database. "commit" stores one query, "read" searches
for a key, "job" submits, takes, renews and ends a job (four transactions). Both databases flush every commit to the
same disk. A commit is bound by that flush and, on a server, by the round trips of a transaction. A read is bound by the
interpreter and one or two round trips.

The part service measures requests/s of 8 clients in a closed loop, on one and on two ``plumbline serve`` processes that
share a database and a home. "retrieve" encodes a query and searches (bound by the processor); "list" reads the
collections (bound by the interpreter). Clients run in processes of their own, which share the cores.

The PostgreSQL server is that of the extra ``scale``, on this machine, over TCP; --database selects another one. Sides
alternate in every round. The figures are medians over rounds, with the lowest and highest. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path

import httpx2 as httpx
from sqlalchemy import insert

from app.accounts.keys import KeyStore
from app.jobs.job_store import JobStore
from app.jobs.leases import JobLeases
from data.schema import queries
from data.store import Store
from tests.databases import new_database
from tests.scale.postgresql import server
from tests.scale.processes import Installation, Process, installation, listening

PROCESSES = (1, 4)
CLIENTS = 8
OPERATIONS = ("commit", "read", "job")


@dataclass(frozen=True, slots=True)
class Figure:
    """Operations/s: median, lowest and highest over the rounds. side: sqlite or postgresql, or "servers" for the
    service.
    """

    part: str
    operation: str
    side: str
    processes: int
    median: float
    lowest: float
    highest: float


def commit(store: Store, _secret: str) -> None:
    with store.write(exclusive=False) as connection:
        row = {"id": uuid.uuid4().hex, "question": "How long is the notice period?", "params": {"n": 1}}
        connection.execute(insert(queries).values(**row, answer={"text": "Six weeks. " * 20}))


def read(store: Store, secret: str) -> None:
    assert KeyStore(store).authenticate(secret) is not None


def job(store: Store, _secret: str) -> None:
    leases = JobLeases(store, uuid.uuid4().hex)
    JobStore(store).submit(uuid.uuid4().hex, "evaluation", "", {}, request_sha256="s")
    lease = leases.take()
    if lease is not None:
        leases.renew(lease.id, ())
        leases.end(lease.id, "succeeded", result={})


def store_worker(url: str, operation: str, secret: str, seconds: float, start: Barrier, counts: object) -> None:
    """Repeat one operation for a number of seconds after all processes are ready."""
    call: Callable[[Store, str], None] = {"commit": commit, "read": read, "job": job}[operation]
    with Store.open(url) as store:
        call(store, secret)
        start.wait()
        done, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            call(store, secret)
            done += 1
    counts.put(done)  # type: ignore[attr-defined]


def client(urls: list[str], path: str, number: int, seconds: float, start: Barrier, counts: object) -> None:
    """Send requests to one server, one after the other, for a number of seconds."""
    url = urls[number % len(urls)]
    with httpx.Client(timeout=120) as opened:

        def call(n: int) -> None:
            if path == "retrieve":
                body = {"query": f"How high is gate {n % 97} of {number}?", "collection": "gates"}
                reply = opened.post(url + "/v1/retrieve", json=body)
            else:
                reply = opened.get(url + "/v1/collections")
            assert reply.status_code == 200, reply.text

        call(0)
        start.wait()
        done, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            call(done)
            done += 1
    counts.put(done)  # type: ignore[attr-defined]


def rate(target: Callable[..., None], arguments: list[tuple[object, ...]], seconds: float) -> float:
    """Return the operations/s of concurrent processes, one for each tuple of arguments."""
    context = multiprocessing.get_context("fork")  # this process has no threads, and no open connection
    start, counts = context.Barrier(len(arguments)), context.Queue()
    started = [context.Process(target=target, args=(*given, seconds, start, counts)) for given in arguments]
    for process in started:
        process.start()
    total = sum(counts.get() for _ in started)
    for process in started:
        process.join()
    return total / seconds


def figures(part: str, rounds: int, sides: dict[tuple[str, str, int], Callable[[], float]]) -> list[Figure]:
    """Measure all sides in every round."""
    rates: dict[tuple[str, str, int], list[float]] = {key: [] for key in sides}
    for _ in range(rounds):
        for key in sorted(sides, key=lambda key: (key[0], key[2], key[1])):
            rates[key].append(sides[key]())
            print(f"{part} {key[0]} {key[1]} {key[2]}: {rates[key][-1]:.1f}/s", flush=True)
    return [Figure(part, *key, statistics.median(x), min(x), max(x)) for key, x in rates.items()]


def measure_store(database: str, folder: Path, rounds: int, seconds: float) -> list[Figure]:
    urls = {"sqlite": f"sqlite:///{folder / 'bench.db'}", "postgresql": database}
    secrets = {}
    for name, url in urls.items():
        with Store.open(url) as store:
            secrets[name] = KeyStore(store).create("bench", ["query"]).secret
    sides: dict[tuple[str, str, int], Callable[[], float]] = {}
    for operation in OPERATIONS:
        for processes in PROCESSES:
            for name, url in urls.items():

                def side(name: str = name, url: str = url, operation: str = operation, n: int = processes) -> float:
                    return rate(store_worker, [(url, operation, secrets[name])] * n, seconds)

                sides[operation, name, processes] = side
    return figures("store", rounds, sides)


@contextmanager
def two_servers(database: str, folder: Path) -> Iterator[list[str]]:
    home, gates = folder / "home", folder / "gates.jsonl"
    lines = [{"id": f"g{n}", "title": f"Gate {n}", "text": f"Gate {n} is {n * 3} feet high."} for n in range(500)]
    gates.write_text("\n".join(json.dumps(line) for line in lines))
    with installation(folder, PLUMBLINE_HOME=str(home), PLUMBLINE_DATABASE=database, PLUMBLINE_DEVICE="cpu") as made:
        assert made.start("index", str(gates), "--collection", "gates").process.wait() == 0
        yield [one.url for one in _listening(made)]


def _listening(made: Installation) -> list[Process]:
    return [listening(one) for one in [made.serve(), made.serve()]]


def measure_service(database: str, folder: Path, rounds: int, seconds: float) -> list[Figure]:
    with two_servers(database, folder) as urls:
        sides: dict[tuple[str, str, int], Callable[[], float]] = {}
        for path in ("retrieve", "list"):
            for count in (1, 2):

                def side(path: str = path, count: int = count) -> float:
                    return rate(client, [(urls[:count], path, number) for number in range(CLIENTS)], seconds)

                sides[path, "servers", count] = side
        return figures("service", rounds, sides)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("store", "service"), help="only one of the two")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="duration of each measurement")
    parser.add_argument("--database", help="URL of an empty PostgreSQL database (default: a temporary server)")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results: list[Figure] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plumbline-bench-")))
        database = given.database
        if database is None:
            own = stack.enter_context(server("fsync=on", "max_connections=300"))
            database = own.tcp_url(stack.enter_context(new_database(own.url)))
        if given.part != "service":
            results += measure_store(database, folder, given.rounds, given.seconds)
        if given.part != "store":
            results += measure_service(database, folder, given.rounds, given.seconds)
    for one in results:
        spread = f"[{one.lowest:.1f}, {one.highest:.1f}]"
        print(f"{one.part:8} {one.operation:8} {one.side:10} {one.processes}  {one.median:9.1f}/s  {spread}")
    print(json.dumps([asdict(one) for one in results]))


if __name__ == "__main__":
    main()
