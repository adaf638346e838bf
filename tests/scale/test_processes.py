"""Three servers and two workers on one database and one home; one of each is killed while they work."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import func, select

from app.accounts.keys import KeyLimits, KeyStore
from data.schema import documents, jobs, queries, samples
from data.store import Store
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from retrieval.collections import list_collections
from tests.databases import new_database
from tests.scale.postgresql import Server
from tests.scale.processes import Balancer, Installation, Process, installation, listening, until

pytestmark = pytest.mark.scale

COLLECTIONS = ("north", "south", "east")
UPLOADS = 2
FILES = 30


@pytest.fixture(scope="module")
def database(postgresql: Server) -> Iterator[str]:
    with new_database(postgresql.url) as url:
        yield url


@pytest.fixture(scope="module")
def installed(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("installation")
    save_prefix_decoder(warm_start(0), folder / "reader", {})
    places = {"PLUMBLINE_HOME": str(folder / "home"), "PLUMBLINE_MODEL": str(folder / "reader")}
    with installation(folder, PLUMBLINE_DATABASE=database, PLUMBLINE_DEVICE="cpu", **places) as made:
        yield made


@pytest.fixture(scope="module")
def servers(installed: Installation) -> list[Process]:
    """They open the new database at the same moment."""
    return [listening(one) for one in [installed.serve() for _ in range(3)]]


@pytest.fixture(scope="module")
def workers(installed: Installation, servers: list[Process]) -> list[Process]:
    return [installed.start("work") for _ in range(2)]


def text_of(collection: str, upload: int, number: int) -> str:
    return " ".join(f"The {collection} gate {upload}-{number} is {n * number} feet high." for n in range(12))


def submit(balancer: Balancer) -> dict[str, str]:
    """Index jobs and evaluations; their ids by what was asked. Each has a key, so that it may be sent again."""
    asked: dict[str, str] = {}
    for collection in COLLECTIONS:
        made = balancer.request("POST", "/v1/collections", json={"name": collection})
        assert made.status_code in (201, 409), made.text
        for upload in range(UPLOADS):
            files = [("files", (f"{upload}-{n}.txt", text_of(collection, upload, n))) for n in range(FILES)]
            key = {"Idempotency-Key": f"{collection}{upload}"}
            path = f"/v1/collections/{collection}/documents"
            reply = balancer.request("POST", path, files=files, headers=key)
            assert reply.status_code == 202, reply.text
            asked[f"{collection}{upload}"] = reply.json()["id"]
    for seed in range(2):
        questions = [{"id": str(n), "text": f"What is {n}?", "references": [str(n)]} for n in range(20)]
        body = {"questions": questions, "arms": ["closed_book"], "samples": 2, "seed": seed, "temperature": 0.7}
        reply = balancer.request("POST", "/v1/evaluations", json=body, headers={"Idempotency-Key": f"run{seed}"})
        assert reply.status_code == 202, reply.text
        asked[f"run{seed}"] = reply.json()["id"]
    return asked


class Asking(threading.Thread):
    """A client that asks questions until it is told to stop. answered: ids of answers, by server."""

    def __init__(self, balancer: Balancer) -> None:
        super().__init__()
        self.balancer = balancer
        self.over = threading.Event()
        self.answered: dict[str, str] = {}
        self.refused: Counter[int] = Counter()

    def run(self) -> None:
        while not self.over.is_set():
            reply = self.balancer.request("POST", "/v1/query", json={"question": "How high?", "retrieval": False})
            if reply.status_code == 200:
                self.answered[reply.json()["id"]] = str(reply.url.copy_with(path="/")).rstrip("/")
            else:
                self.refused[reply.status_code] += 1
            self.over.wait(0.3)


def running(store: Store) -> dict[int, str]:
    """Jobs at work that have begun to store something, by the process id of their worker."""
    with store.read() as connection:
        rows = connection.execute(select(jobs.c.id, jobs.c.owner, jobs.c.progress).where(jobs.c.status == "running"))
        return {
            int(owner.split("/")[1]): job
            for job, owner, progress in rows
            if any(done for name, (done, _) in progress.items() if name in ("vectors", "samples"))
        }


def stopped_at_work(store: Store) -> tuple[int, str] | None:
    """A worker that was stopped (SIGSTOP) while it held a job, and the job; None if it had just ended it."""
    for pid, job in running(store).items():
        os.kill(pid, signal.SIGSTOP)
        if running(store).get(pid) == job:
            return pid, job
        os.kill(pid, signal.SIGCONT)
    return None


def test_nothing_is_lost_and_nothing_is_done_twice(
    installed: Installation, database: str, servers: list[Process], workers: list[Process]
) -> None:
    urls = [server.url for server in servers]
    with closing(Balancer(urls)) as balancer, closing(Balancer(urls)) as other, Store.open(database) as store:
        asking = Asking(other)
        asking.start()
        try:
            asked = submit(balancer)
            pids = {worker.pid: worker for worker in workers}
            victim, job = until(lambda: stopped_at_work(store))
            pids[victim].kill()
            servers[0].kill()
            assert submit(balancer) == asked  # the client cannot know which requests arrived, and sends all again
            until(lambda: finished(store) == len(asked))
        finally:
            asking.over.set()
            asking.join()
        with store.read() as connection:
            done = {row["id"]: row for row in connection.execute(select(jobs)).mappings()}
            held = dict(
                connection.execute(
                    select(documents.c.document_id, func.count()).group_by(documents.c.document_id)
                ).all()
            )
            kept = Counter(connection.execute(select(queries.c.id)).scalars())
            drawn = dict(connection.execute(select(samples.c.run_id, func.count()).group_by(samples.c.run_id)).all())
        assert set(done) == set(asked.values())
        assert {row["status"] for row in done.values()} == {"succeeded"}
        assert done[job]["attempts"] == 2
        assert [row["attempts"] for name, row in done.items() if name != job] == [1] * (len(done) - 1)
        assert done[job]["owner"].split("/")[1] != str(victim)
        # Every document is there once for each collection, in the one index that is published.
        names = {f"{upload}-{n}.txt" for upload in range(UPLOADS) for n in range(FILES)}
        assert held == dict.fromkeys(names, len(COLLECTIONS))
        assert [info.documents for info in list_collections(store)] == [UPLOADS * FILES] * len(COLLECTIONS)
        assert sorted(drawn.values()) == [40, 40]
        for key, row in done.items():
            if row["kind"] == "index" and key != job:
                assert row["result"]["embedded"] == row["result"]["chunks"] - row["result"]["reused"]
        # No query is stored twice; those that a living server answered are stored.
        assert set(kept.values()) <= {1}
        until(lambda: not_stored(store, asking.answered, servers[0].url) == set(), 60)
        assert balancer.dead + asking.balancer.dead > 0
        assert asking.answered
        assert not asking.refused
        retrieved = balancer.request(
            "POST", "/v1/retrieve", json={"query": "How high is north gate 1-7?", "collection": "north"}
        )
        assert retrieved.status_code == 200, retrieved.text


def finished(store: Store) -> int:
    with store.read() as connection:
        ended = select(func.count()).select_from(jobs).where(jobs.c.status.in_(("succeeded", "failed", "cancelled")))
        return connection.execute(ended).scalar_one()


def not_stored(store: Store, answered: dict[str, str], dead: str) -> set[str]:
    with store.read() as connection:
        kept = set(connection.execute(select(queries.c.id)).scalars())
    return {key for key, url in answered.items() if url != dead and key not in kept}


def test_a_key_has_one_rate_at_all_servers(database: str, servers: list[Process], workers: list[Process]) -> None:
    with Store.open(database) as store:
        limits = KeyLimits(requests_per_minute=3)
        secret = KeyStore(store).create(uuid.uuid4().hex, ["query"], limits=limits).secret
    living = [server.url for server in servers if server.process.poll() is None]
    assert len(living) >= 2
    headers = {"Authorization": f"Bearer {secret}"}
    replies = [httpx.get(url + "/v1/collections", headers=headers) for url in living * 3]
    codes = Counter(reply.status_code for reply in replies)
    assert codes[200] == 3
    assert codes[429] == len(replies) - 3
    assert all(int(reply.headers["retry-after"]) >= 1 for reply in replies if reply.status_code == 429)


def test_a_process_that_lacks_an_index_says_so_and_the_others_serve_on(
    installed: Installation, servers: list[Process], workers: list[Process], tmp_path: Path
) -> None:
    """A server whose home lacks one collection's folder, as when storage is not mounted or copied late."""
    home = Path(installed.environment["PLUMBLINE_HOME"])
    other = tmp_path / "home"
    shutil.copytree(home / "collections", other / "collections", ignore=shutil.ignore_patterns("south"))
    lacking = listening(installed.serve(PLUMBLINE_HOME=str(other)))
    ready = httpx.get(lacking.url + "/readyz", timeout=60)
    assert ready.status_code == 503
    (reason,) = ready.json()["reasons"]
    assert reason.startswith("collection south: ")
    assert "not on this machine" in reason
    assert str(other) not in ready.text
    question = {"query": "How high is gate 1-7?"}
    for url, collection, code in ((lacking.url, "south", 503), (lacking.url, "north", 200)):
        reply = httpx.post(url + "/v1/retrieve", json={**question, "collection": collection}, timeout=60)
        assert reply.status_code == code, reply.text
    living = next(server.url for server in servers if server.process.poll() is None)
    assert httpx.get(living + "/readyz", timeout=60).status_code == 200
    assert httpx.post(living + "/v1/retrieve", json={**question, "collection": "south"}, timeout=60).status_code == 200
    # The folder arrives: no restart is needed.
    (other / "collections" / "south").symlink_to(home / "collections" / "south")
    until(lambda: httpx.get(lacking.url + "/readyz", timeout=60).status_code == 200)
    assert (
        httpx.post(lacking.url + "/v1/retrieve", json={**question, "collection": "south"}, timeout=60).status_code
        == 200
    )
