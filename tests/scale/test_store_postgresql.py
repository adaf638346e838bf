"""The store on a server: writers side by side, locks, clocks that disagree, a server that goes away."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, insert, select, text

from app.accounts.tenants import create_tenant_collection
from app.jobs.job_store import JobStore
from app.jobs.leases import JobLeases
from data.columns import utc_now
from data.errors import DataError, SchemaVersionError, StoreBusyError, StoreLockedError
from data.schema import SCHEMA_VERSION, collections, meta, vectors
from data.store import Store
from retrieval.errors import CollectionBusyError
from retrieval.generations.collection_folder import collection_lock
from retrieval.indexing.vector_cache import write_vectors
from tests.data.test_store_migrates import as_version_2
from tests.scale.postgresql import Server, server

pytestmark = pytest.mark.scale


@pytest.fixture
def stores(database_url: str) -> Iterator[tuple[Store, Store]]:
    """Two stores on one database, as two processes have them."""
    with Store.open(database_url, busy_timeout_s=5) as one, Store.open(database_url, busy_timeout_s=5) as two:
        yield one, two


def test_stores_that_open_a_new_database_at_once_make_its_tables_once(database_url: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        opened = list(threads.map(lambda _: Store.open(database_url), range(6)))
    with opened[0].read() as connection:
        assert connection.execute(select(func.count()).select_from(meta)).scalar_one() == 1
    for store in opened:
        store.close()


def test_stores_that_open_an_older_database_at_once_bring_it_along_once(database_url: str) -> None:
    as_version_2(database_url)
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: Store.open(database_url), range(4)))
    with opened[0].read() as connection:
        assert connection.execute(select(meta.c.value)).scalar_one() == SCHEMA_VERSION
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [SCHEMA_VERSION]
    for store in opened:
        store.close()


def test_one_exclusive_writer_at_a_time_among_stores_and_others_beside_it(stores: tuple[Store, Store]) -> None:
    one, two = stores
    with Store.open(two._url.render_as_string(hide_password=False), busy_timeout_s=0.2) as hasty, one.write():
        with pytest.raises(StoreBusyError), hasty.write():
            pass
        with hasty.write(exclusive=False) as connection:
            connection.execute(insert(meta).values(key="beside", value="1"))
    with one.read() as connection:
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "beside")) == "1"


def submit(store: Store, collection: str | None = None) -> str:
    job = uuid.uuid4().hex
    with store.read() as connection:
        key = connection.scalar(select(collections.c.id).where(collections.c.name == collection))
    JobStore(store).submit(job, "index", "", {}, request_sha256="s", collection_key=key)
    return job


def take_all(store: Store, name: str, start: threading.Barrier) -> list[str]:
    leases = JobLeases(store, name)
    start.wait()
    taken = []
    while (job := leases.take()) is not None:
        taken.append(job.id)
    return taken


def test_workers_that_take_at_once_take_every_job_once(database_url: str) -> None:
    with Store.open(database_url) as store:
        submitted = {submit(store) for _ in range(40)}
    stores = [Store.open(database_url) for _ in range(5)]
    start = threading.Barrier(len(stores))
    with ThreadPoolExecutor(len(stores)) as threads:
        found = list(threads.map(lambda n: take_all(stores[n], str(n), start), range(len(stores))))
    for store in stores:
        store.close()
    taken = [job for jobs in found for job in jobs]
    assert len(taken) == len(set(taken)) == 40
    assert set(taken) == submitted


def test_of_jobs_on_one_collection_one_is_taken(database_url: str) -> None:
    stores = [Store.open(database_url) for _ in range(4)]
    for name in "abcde":
        create_tenant_collection(stores[0], "", name)
        for _ in range(4):
            submit(stores[0], name)
    start = threading.Barrier(len(stores))
    with ThreadPoolExecutor(len(stores)) as threads:
        found = list(threads.map(lambda n: take_all(stores[n], str(n), start), range(len(stores))))
    assert sum(map(len, found)) == 5
    taken = {JobStore(stores[0]).get("", job).collection for jobs in found for job in jobs}  # type: ignore[union-attr]
    assert taken == set("abcde")
    for store in stores:
        store.close()


def test_a_job_whose_row_is_locked_is_passed_over(stores: tuple[Store, Store]) -> None:
    one, two = stores
    first, second = submit(one), submit(one)
    with one.write(exclusive=False) as connection:
        connection.execute(text("SELECT 1 FROM jobs WHERE id = :id FOR UPDATE"), {"id": first})
        taken = JobLeases(two, "two").take()
    assert taken is not None
    assert taken.id == second


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_is_wrong_does_no_harm(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """The clock of the second process is hours ahead or behind: it takes nothing that is held, and what is free."""
    one, two = stores
    held = submit(one)
    right = JobLeases(one, "right")
    assert right.take() is not None
    free = submit(one)
    real = utc_now
    monkeypatch.setattr("data.columns.utc_now", lambda: real() + timedelta(hours=hours))
    wrong = JobLeases(two, "wrong")
    taken = wrong.take()
    assert taken is not None
    assert taken.id == free
    assert wrong.take() is None
    assert wrong.renew(free, ()).held
    monkeypatch.undo()
    assert right.take() is None  # what the wrong clock renewed is neither over nor for ever
    assert right.renew(held, ()).held
    heartbeat = JobStore(one).get("", free).heartbeat_at  # type: ignore[union-attr]
    assert heartbeat is not None
    assert abs(heartbeat - real()) < timedelta(minutes=1)


def test_processes_with_homes_of_their_own_do_not_write_one_collection(
    stores: tuple[Store, Store], tmp_path: Path
) -> None:
    one, two = stores
    with collection_lock(one, tmp_path / "one", "c") as lock:
        lock.check()
        with pytest.raises(CollectionBusyError, match="'c'"), collection_lock(two, tmp_path / "two", "c"):
            pass
        with collection_lock(two, tmp_path / "two", "other"):
            pass
    with collection_lock(two, tmp_path / "two", "c"):
        pass


def test_a_lock_whose_connection_was_lost_says_so(stores: tuple[Store, Store]) -> None:
    one, two = stores
    with one.hold("x") as lock:
        with pytest.raises(StoreLockedError), two.hold("x"):
            pass
        with two.write() as connection:
            others = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = "
            )
            connection.execute(text(others + "current_database()"))
        with pytest.raises(StoreBusyError, match="lost"):
            lock.check()
        with two.hold("x"):
            pass


def test_two_collections_with_a_text_in_common_are_embedded_at_once(stores: tuple[Store, Store]) -> None:
    texts = {f"{n:064x}": np.full(4, 0.5, dtype=np.float32) for n in range(200)}
    start = threading.Barrier(2)

    def write(store: Store) -> None:
        start.wait()
        for _ in range(10):
            write_vectors(store, "e", texts, None)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, stores))
    with stores[0].read() as connection:
        assert connection.scalar(select(func.count()).select_from(vectors)) == 200


def test_a_database_of_another_version_is_refused_by_both_versions(stores: tuple[Store, Store]) -> None:
    url = stores[0]._url.render_as_string(hide_password=False)
    for version, word in (("99", "upgrade"), ("0", "move the database away")):
        with stores[0].write() as connection:
            connection.execute(meta.update().where(meta.c.key == "schema_version").values(value=version))
        with pytest.raises(SchemaVersionError, match=word) as caught:
            Store.open(url)
        assert caught.value.found == version


def test_another_programs_database_is_used_beside_its_tables_unless_their_names_collide(database_url: str) -> None:
    with Store.open(database_url) as store, store.write() as connection:
        connection.execute(text("CREATE TABLE theirs (id INTEGER)"))
        connection.execute(text("DROP TABLE meta"))
    with pytest.raises(DataError, match="another program"):
        Store.open(database_url)


def test_a_wrong_password_and_a_port_where_nothing_listens(postgresql: Server, database_url: str) -> None:
    right = postgresql.tcp_url(database_url)
    for url in (
        right.replace(postgresql.password, "geheim"),
        right.replace(f":{postgresql.port}/", ":1/").replace(postgresql.password, "geheim"),
    ):
        with pytest.raises(DataError, match="does not answer") as caught:
            Store.open(url)
        assert "geheim" not in str(caught.value)


def test_a_user_without_rights_is_told_which(postgresql: Server, database_url: str) -> None:
    name = f"u{uuid.uuid4().hex}"
    with Store.open(database_url) as store, store.write() as connection:
        connection.execute(text(f"CREATE USER {name}"))
    try:
        with pytest.raises(DataError, match="permission"):
            Store.open(database_url.replace("//postgres@", f"//{name}@"))
    finally:
        with Store.open(database_url) as store, store.write() as connection:
            connection.execute(text(f"DROP USER {name}"))


def test_a_server_that_stops_and_starts_again_is_used_again() -> None:
    with server() as own, Store.open(own.url, busy_timeout_s=2) as store:
        with store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="1"))
        own.control("--mode", "immediate", "stop")
        for _ in range(2):
            with pytest.raises(DataError, match="does not answer"), store.read() as connection:
                connection.execute(select(meta))
            with pytest.raises(DataError, match="does not answer"), store.write():
                pass
        own.restart()
        with store.read() as connection:
            assert connection.scalar(select(meta.c.value).where(meta.c.key == "a")) == "1"
        with store.write() as connection:
            connection.execute(insert(meta).values(key="b", value="2"))
        own.control("--mode", "fast", "stop")
        own.restart()  # nothing was asked meanwhile: the pools hold connections that are dead
        with store.write(exclusive=False) as connection:
            connection.execute(insert(meta).values(key="c", value="3"))
        with store.read() as connection:
            assert connection.scalar(select(meta.c.value).where(meta.c.key == "c")) == "3"
